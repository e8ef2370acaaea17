import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { runCli } from '../src/index.ts';
import { freshFolder } from './support/folder.ts';
import { fakeIo, type FakeIo } from './support/io.ts';
import { modelServer, refuse, words, type Asked } from './support/model-server.ts';
import { rowsIn, sessionNames } from './support/session.ts';

/** A picture of one pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGA' +
  'WjR9awAAAABJRU5ErkJggg==';
const GIF = 'R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs=';

/** A folder with a picture of each of two kinds, and a text. */
function withPictures(): string {
  const folder = freshFolder({ 'notes.md': 'Tea.\n', 'sub/x.md': '' });
  writeFileSync(join(folder, 'cup.png'), Buffer.from(PNG, 'base64'));
  writeFileSync(join(folder, 'sub/pot.gif'), Buffer.from(GIF, 'base64'));
  return folder;
}

const at = (url: string): string[] => ['--base-url', url, '--model', 'tea'];

/** What the user said last, as it came over the wire. */
const lastContent = (asked: readonly Asked[]): unknown =>
  asked.at(-1)?.body.messages.findLast(({ role }) => role === 'user')?.content;

const picture = (type: string, bytes: string): object => ({
  type: 'image_url',
  image_url: { url: `data:${type};base64,${bytes}` },
});

describe('--image', () => {
  it('goes with the question, in the order given, and stays beside the session', async () => {
    const { url, asked } = await modelServer(words('A cup and a pot.'));
    const cwd = withPictures();
    const io = fakeIo({ cwd, env: { INIT_CWD: join(cwd, 'sub') } });
    const images = ['--image', 'pot.gif', '--image', '../cup.png'];
    expect(await runCli([...at(url), '--root', '..', ...images, 'what is it?'], io)).toBe(0);
    expect(io.stderr.text).toBe('');
    expect(lastContent(asked)).toEqual([
      { type: 'text', text: 'what is it?' },
      picture('image/gif', GIF),
      picture('image/png', PNG),
    ]);
    const [name = ''] = sessionNames(cwd);
    const log = join(cwd, '.celestea/sessions', name);
    const [, question] = rowsIn(log);
    expect(question).toMatchObject({
      type: 'user_message',
      text: 'what is it?',
      attachments: [
        { name: 'pot.gif', media_type: 'image/gif', width: 1, height: 1 },
        { name: 'cup.png', media_type: 'image/png' },
      ],
    });
    expect(readdirSync(join(cwd, '.celestea/sessions/attachments'))).toHaveLength(2);
    const shown = fakeIo({ cwd });
    expect(await runCli(['log', log], shown)).toBe(0);
    expect(shown.stdout.text).toContain('› what is it?\n  (2 images: pot.gif, cup.png)\n');
  });

  it('is remembered by a session that goes on; one that is gone by then is a note', async () => {
    const { url, asked } = await modelServer(words('A cup.'), words('White.'), words('Gone.'));
    const cwd = withPictures();
    const session = ['--session', 'tea.jsonl'];
    const run = (...argv: readonly string[]): Promise<number> =>
      runCli([...at(url), ...session, ...argv], fakeIo({ cwd }));
    const first = (): unknown => asked.at(-1)?.body.messages.find(({ role }) => role === 'user');
    expect(await run('--image', 'cup.png', 'what is it?')).toBe(0);
    const asShown = first();
    expect(await run('--resume', 'which colour?')).toBe(0);
    expect(first()).toEqual(asShown);
    expect(lastContent(asked)).toBe('which colour?');
    rmSync(join(cwd, 'attachments'), { recursive: true });
    expect(await run('--resume', 'and now?')).toBe(0);
    expect(JSON.stringify(first())).toContain('what is it?');
    expect(JSON.stringify(first())).toMatch(/\[picture .*cup\.png.* is not available\]/);
    expect(JSON.stringify(first())).not.toContain('base64');
  });

  it('is kept in memory when the session is', async () => {
    const { url, asked } = await modelServer(words('A cup.'));
    const io = fakeIo({ cwd: withPictures() });
    expect(await runCli([...at(url), '--no-session', '--image', 'cup.png', 'q'], io)).toBe(0);
    expect(lastContent(asked)).toEqual([{ type: 'text', text: 'q' }, picture('image/png', PNG)]);
    expect(readdirSync(io.cwd).sort()).toEqual(['cup.png', 'notes.md', 'sub']);
  });

  it('goes with frames as well', async () => {
    const { url, asked } = await modelServer(words('A cup.'));
    const io = fakeIo({ cwd: withPictures() });
    expect(await runCli([...at(url), '--json', '--image', 'cup.png', 'q'], io)).toBe(0);
    expect(lastContent(asked)).toContainEqual(picture('image/png', PNG));
  });

  it('is nothing that the offline model can see, which says so', async () => {
    const io = fakeIo({ cwd: withPictures() });
    expect(await runCli(['--image', 'cup.png', 'hello'], io)).toBe(0);
    expect(io.stdout.text).toContain('I cannot look at pictures, so I left them aside.');
  });
});

describe('a model that cannot see', () => {
  const session = ['--session', 'tea.jsonl'];
  const hint =
    'the model refuses the pictures of this session; --no-images tells it of them in words\n';
  const unseen = 'unknown variant `image_url`, expected `text`';

  it('is known by what it says, and the session goes on with --no-images', async () => {
    const { url, asked } = await modelServer(
      refuse(400, unseen),
      refuse(422, 'no vision here'),
      words('A cup, I am told.'),
    );
    const cwd = withPictures();
    const run = async (...argv: readonly string[]): Promise<FakeIo> => {
      const io = fakeIo({ cwd });
      await runCli([...at(url), ...session, ...argv], io);
      return io;
    };
    const first = await run('--image', 'cup.png', 'what is it?');
    expect(first.stderr.text).toBe(hint);
    expect(first.stdout.text).toContain('\nerror (generate: HTTP 400: unknown variant');
    expect((await run('--resume', 'and now?')).stderr.text).toBe(hint);
    const last = await run('--resume', '--no-images', 'and now?');
    expect(last.stderr.text).toBe('');
    expect(last.stdout.text).toContain('A cup, I am told.');
    const body = JSON.stringify(asked.at(-1)?.body);
    expect(body).toContain('cup.png');
    expect(body).toContain('this model cannot see pictures]');
    expect(body).not.toContain('base64');
  });

  it('is told in a frame with --json', async () => {
    const { url } = await modelServer(refuse(400, unseen));
    const io = fakeIo({ cwd: withPictures() });
    expect(await runCli([...at(url), '--json', '--image', 'cup.png', 'q'], io)).toBe(1);
    const frames = io.stdout.text.trimEnd().split('\n').map((line) => JSON.parse(line) as object);
    const payload = { phase: 'advice', message: hint.trimEnd() };
    expect(frames).toContainEqual(expect.objectContaining({ event: 'status', payload }));
    expect(frames.at(-1)).toMatchObject({ event: 'turn_end' });
  });

  it.each<[string, string[], Parameters<typeof refuse>[1]]>([
    ['something else was refused', ['--image', 'cup.png'], 'no such model'],
    ['there is no picture', [], unseen],
    ['none was sent', ['--no-images'], unseen],
  ])('is not suspected when %s', async (_, options, message) => {
    const { url } = await modelServer(refuse(400, message));
    const io = fakeIo({ cwd: withPictures() });
    expect(await runCli([...at(url), ...options, 'q'], io)).toBe(1);
    expect(io.stderr.text).toBe('');
  });
});

describe('what is no picture is told before anything is asked', () => {
  const tooLarge = (folder: string): void => {
    truncateSync(join(folder, 'cup.png'), 6_000_000);
  };
  it.each<[string, string, RegExp, ((folder: string) => void)?]>([
    ['a file that is not there', 'no\x1bpe.png', /"no\\x1bpe\.png": it does not exist\n/],
    ['a folder', 'sub', /"sub": expected a file, got a folder\n/],
    ['a text', 'notes.md', /"notes\.md": expected a PNG, JPEG, WebP or GIF picture, got 5 bytes/],
    ['a device', '/dev/null', /"\/dev\/null": expected a file, got something else\n/],
    ['a large file', 'cup.png', /"cup\.png": expected at most 5\.2 MB, got 6\.0 MB\n/, tooLarge],
    ['a FIFO', 'pipe.png', /"pipe\.png": expected a file, got something else\n/, (folder) => {
      execFileSync('mkfifo', [join(folder, 'pipe.png')], { stdio: 'ignore' });
    }],
    ['half a picture', 'cut.png', /"cut\.png": expected a whole PNG picture/, (folder) => {
      writeFileSync(join(folder, 'cut.png'), Buffer.from(PNG, 'base64').subarray(0, 40));
    }],
  ])('%s', async (_, file, message, prepare = () => undefined) => {
    const { url, asked } = await modelServer();
    const cwd = withPictures();
    prepare(cwd);
    const io = fakeIo({ cwd });
    const images = ['--image', 'sub/pot.gif', '--image', file];
    expect(await runCli([...at(url), ...images, 'q'], io)).toBe(2);
    expect(io.stderr.text).toMatch(/^celestea: --image: [^]*\nTry celestea --help\.\n$/);
    expect(io.stderr.text).toMatch(message);
    expect(io.stderr.text).not.toContain('\x1b');
    expect(io.stdout.text).toBe('');
    expect(asked).toEqual([]);
    expect(existsSync(join(cwd, '.celestea'))).toBe(false);
  });

  it('one that the disk does not take ends the command', async () => {
    const { url, asked } = await modelServer();
    const io: FakeIo = fakeIo({ cwd: withPictures() });
    mkdirSync(join(io.cwd, '.celestea/sessions'), { recursive: true });
    writeFileSync(join(io.cwd, '.celestea/sessions/attachments'), '');
    expect(await runCli([...at(url), '--image', 'cup.png', 'q'], io)).toBe(1);
    expect(io.stderr.text).toMatch(/^celestea: --image: "cup\.png": [^\n]+ cannot be kept: .+\n$/);
    expect(asked).toEqual([]);
    expect(sessionNames(io.cwd)).toEqual(['attachments']);
  });
});
