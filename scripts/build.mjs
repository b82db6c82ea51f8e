/** `npm run build`: builds dist/ from the sources. */
import { command } from './lib/processes.mjs';
import { makeReady } from './lib/ready.mjs';
import { createSay } from './lib/say.mjs';

await command(async () => {
  const say = createSay();
  if (!(await makeReady(say))) say.line('Nothing has changed since the last build');
});
