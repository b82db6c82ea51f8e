/** `npm run dev`: Vite builds the client and `node --watch` runs the server from its sources, both on every change. */
import { rmSync } from 'node:fs';
import { build } from 'vite';
import { stampPath } from './build.mjs';
import { command, nodeSettings, run } from './lib/processes.mjs';

await command(async () => {
  // The client in dist/ changes below: the next `npm start` builds again.
  rmSync(stampPath, { force: true });
  const watcher = await build({
    configFile: 'sandbox/vite.config.ts',
    logLevel: 'warn',
    // A running server still offers the files of the build before.
    build: { watch: {}, emptyOutDir: false },
  });
  if (!('on' in watcher)) throw new Error('Vite does not watch');
  await new Promise((resolve) => {
    watcher.on('event', ({ code }) => {
      if (code === 'END') resolve(undefined);
    });
  });
  // Vite sets NODE_ENV=production in this process.
  const env = { ...nodeSettings(), NODE_ENV: 'development' };
  return run(process.execPath, ['--watch', '--watch-preserve-output', 'scripts/lib/dev-server.mjs'], { env });
});
