/**
 * Builds the list of commonly breached passwords that comes with Foyer from a file of passwords, one per line, the most
 * common first: `node scripts/breached-list.mjs FILE`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { entriesToList, openTexts, packTexts, shippedListPath } from '../server/password/breached-list.ts';

const [path] = process.argv.slice(2);
if (path === undefined) {
  process.stderr.write('error: name the file with the passwords, one a line, the most common first\n');
  process.exit(2);
}
const passwords = readFileSync(path, 'utf8').split(/\r?\n/).filter(Boolean);
const file = packTexts(entriesToList(passwords));
writeFileSync(shippedListPath, file);
const { size } = openTexts(file);
process.stdout.write(
  `${passwords.length} passwords gave ${size} entries in ${file.length} bytes; one of ${Math.round(2 ** 40 / size)} other texts is found by chance.\n`,
);
