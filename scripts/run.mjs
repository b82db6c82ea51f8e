/** `npm start`, `npm run foyer` and `npm run bench`: builds if a source has changed, and runs the program. */
import { build, isProductBuilt, serverEntry } from './build.mjs';
import { command, nodeSettings, run } from './lib/processes.mjs';

const cli = 'dist/server/cli/main.js';
const programs = {
  server: serverEntry,
  foyer: cli,
  bench: 'test/load/main.ts',
  'bench-workers': 'test/load/workers.ts',
};

await command(async () => {
  const [name, ...args] = process.argv.slice(2);
  const program = programs[/** @type {keyof typeof programs} */ (name)];
  // The operator's command does not replace the build of a running server because of the sandbox alone.
  if (program !== cli || !isProductBuilt()) await build();
  return run(process.execPath, [program, ...args], { env: nodeSettings() });
});
