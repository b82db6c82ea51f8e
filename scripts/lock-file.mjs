/** `npm run lock-file`, after `npm install NAME`: completes package-lock.json for the platforms that npm left out. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { completed, missingEntries } from './lib/lock-file.mjs';
import { root } from './lib/paths.mjs';
import { createSay } from './lib/say.mjs';

const path = join(root, 'package-lock.json');
const lock = JSON.parse(readFileSync(path, 'utf8'));
const missing = missingEntries(lock);
if (missing.length > 0) writeFileSync(path, `${JSON.stringify(completed(lock), null, 2)}\n`);
createSay().line(`package-lock.json: ${missing.length} entries added`);
