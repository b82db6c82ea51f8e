import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandReference } from '../../scripts/lib/command-docs.mjs';
import { createFoyer } from '../../server/cli/run.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/commands.md'), 'utf8');

/** None of the commands runs. */
const io = { env: {}, stdin: process.stdin, stdout: process.stdout, stderr: process.stderr };

describe('docs/commands.md', () => {
  it('The page docs/commands.md is what `npm run docs` writes', () => {
    expect(page).toBe(commandReference(createFoyer(io)));
  });

  it.each(['client add', 'user import', 'billing refund', 'doctor'])('The page has the usage of foyer %s', (words) => {
    expect(page).toContain(`Usage: foyer ${words} [options]`);
  });
});
