import { runtimeFault } from '../server/runtime-check.ts';

// The check comes before anything is imported that an old Node could not load.
const fault = runtimeFault(process.versions.node);
if (fault !== undefined) {
  console.error(fault);
  process.exit(1);
}
const { startWithSandbox } = await import('#sandbox');
await startWithSandbox();
