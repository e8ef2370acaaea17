import type { ToolDecision, ToolGuard, ToolInput, ToolOutput, ToolRegistry } from '../tool.ts';
import { assertFailed, call, echo, toolOf, type RegistryTest } from './tool-registry-kit.ts';

const deciding = (check: (input: ToolInput) => ToolDecision): ToolGuard => ({
  check: (input) => Promise.resolve(check(input)),
});

/** Dispatches one call past guards that answer this; says who was asked and whether it ran. */
async function judged(
  registry: ToolRegistry,
  decisions: readonly (() => ToolDecision)[],
): Promise<{ output: ToolOutput; order: readonly string[] }> {
  const order: string[] = [];
  registry.register(
    toolOf('a', () => {
      order.push('tool');
      return Promise.resolve('ran');
    }),
  );
  decisions.forEach((decide, index) => {
    registry.addGuard(
      deciding(() => {
        order.push(`guard ${String(index)}`);
        return decide();
      }),
    );
  });
  return { output: await registry.dispatch(call('a')), order };
}

const allow = (): ToolDecision => ({ kind: 'allow' });

/** What a registry owes its guards (C3.6). */
export const GUARDS: readonly RegistryTest[] = [
  {
    part: 'guards',
    title: 'C3.6 C3.7 asks the guards in order, then runs the tool',
    run: async ({ registry, assert }) => {
      const { output, order } = await judged(registry, [allow, allow]);
      assert.deepEqual(order, ['guard 0', 'guard 1', 'tool']);
      assert.equal(output.value, 'ran');
      assert.deepEqual(output.decision, { kind: 'allow' });
    },
  },
  ...(['deny', 'ask'] as const).map((kind): RegistryTest => ({
    part: 'guards',
    title: `C3.6 the first ${kind} ends the chain, and a later allow never undoes it`,
    run: async ({ registry, assert }) => {
      const refuse = (): ToolDecision => ({ kind, reason: 'it is Sunday' });
      const { output, order } = await judged(registry, [allow, refuse, allow]);
      assert.deepEqual(order, ['guard 0', 'guard 1']);
      assertFailed(assert, output, kind);
      assert.equal(output.decision?.kind, kind);
      assert.ok(output.error?.includes('it is Sunday'), String(output.error));
    },
  })),
  {
    part: 'guards',
    title: 'C3.6 shows a guard the call that is going to run',
    run: async ({ registry, assert }) => {
      const seen: unknown[] = [];
      registry.register(echo('a'));
      registry.addGuard(
        deciding(({ call_id, name, args }) => {
          seen.push({ call_id, name, args });
          return { kind: 'allow' };
        }),
      );
      await registry.dispatch(call('a', 'call-9', { x: [1] }));
      assert.deepEqual(seen, [{ call_id: 'call-9', name: 'a', args: { x: [1] } }]);
    },
  },
  {
    part: 'guards',
    title: 'C3.6 C3.7 a guard that throws or rejects lets nothing run, and dispatch does not reject',
    run: async ({ registry, assert }) => {
      const fail = (): never => {
        throw new Error('no policy');
      };
      const { output, order } = await judged(registry, [fail]);
      assert.deepEqual(order, ['guard 0']);
      assertFailed(assert, output, 'throws');
      registry.addGuard({ check: () => Promise.reject(new Error('policy server is down')) });
      assertFailed(assert, await registry.dispatch(call('a')), 'rejects');
    },
  },
  {
    part: 'guards',
    title: 'C3.6 asks a guard that was added later about the next call',
    run: async ({ registry, assert }) => {
      registry.register(echo('a'));
      assert.equal((await registry.dispatch(call('a'))).error, null);
      registry.addGuard(deciding(() => ({ kind: 'deny', reason: 'late' })));
      assertFailed(assert, await registry.dispatch(call('a')), 'late');
    },
  },
  {
    part: 'guards',
    title: 'C3.6 judges each of several calls for itself',
    run: async ({ registry, assert }) => {
      registry.register(echo('a'));
      registry.addGuard(
        deciding(({ call_id }) =>
          call_id === 'y' ? { kind: 'deny', reason: 'not y' } : { kind: 'allow' },
        ),
      );
      const ids = ['x', 'y', 'z'];
      const outputs = await Promise.all(ids.map((id) => registry.dispatch(call('a', id))));
      assert.deepEqual(
        outputs.map(({ call_id, error }) => [call_id, error === null]),
        [
          ['x', true],
          ['y', false],
          ['z', true],
        ],
      );
    },
  },
];
