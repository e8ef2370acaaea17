import process from 'node:process';

/** Prints the milliseconds that importing the module named takes, in a fresh process. */
const name = process.argv[2] ?? '';
const start = performance.now();
await import(name);
process.stdout.write(String(performance.now() - start));
process.exit(0);
