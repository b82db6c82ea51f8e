/** The server of `npm run dev`, from its sources. `node --watch` starts it again when a file that it imports changes. */
import '../../test/support/load-tsx.ts';

const root = new URL('../../', import.meta.url);
// Imported so that it is watched: the server reads the names of the client's files once.
await import(new URL('dist/client/manifest.json', root).href, { with: { type: 'json' } });
// After the loader of the views.
const { startWithSandbox } = await import(new URL('sandbox/start.ts', root).href);
await startWithSandbox();
