/**
 * `npm run walks [-- --files] [-- --json] [-- --check]`: which modules and files of `server/` run in the main journeys of
 * a user, by V8 coverage of one request each (test/walks). The sources run, so it needs no build. `--files` adds the
 * names of the files, `--json` writes all requests as JSON, `--check` fails when a walk needs more than its limit
 * (lib/walks.mjs).
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { command, Failure, run } from './lib/processes.mjs';
import { countWalk, findExcess, walkFiles, walkLimits, walkTable } from './lib/walks.mjs';

/** @returns {Promise<import('./lib/walks.mjs').RecordedRequest[]>} */
async function recordWalks() {
  const dir = mkdtempSync(join(tmpdir(), 'foyer-walks-'));
  process.on('exit', () => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, 'walks.json');
  // Standard output belongs to this command.
  const code = await run(process.execPath, ['test/walks/main.ts', file], { stdio: ['ignore', 2, 2] });
  if (code !== 0) throw new Failure('the walks could not be recorded');
  return JSON.parse(readFileSync(file, 'utf8'));
}

await command(async () => {
  const flag = /** @type {const} */ ({ type: 'boolean', default: false });
  const { values } = parseArgs({ options: { files: flag, json: flag, check: flag } });
  const recorded = await recordWalks();
  const all = walkLimits.map((limit) => countWalk(recorded, limit));
  if (values.json) process.stdout.write(`${JSON.stringify({ walks: all, requests: recorded }, null, 2)}\n`);
  else process.stdout.write([walkTable(all), ...(values.files ? all.map(walkFiles) : [])].join(''));
  const excess = values.check ? findExcess(recorded) : [];
  if (excess.length > 0) throw new Failure(`walks are longer than their limits:\n${excess.join('\n')}`);
  return 0;
});
