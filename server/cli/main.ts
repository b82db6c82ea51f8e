import { runtimeFault } from '../runtime-check.ts';

// The check runs before any import that an old Node could not load.
const fault = runtimeFault(process.versions.node);
if (fault !== undefined) {
  console.error(fault);
  process.exit(4);
}
// A reader that has read enough (`foyer user list | head`) is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});
const { runCli } = await import('#cli');
process.exitCode = await runCli(process.argv.slice(2), {
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
});
