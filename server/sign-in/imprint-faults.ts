import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readUtf8File } from '../../config/text-file.ts';
import { languages } from '../http/index.ts';
import { shippedLegalDir } from './legal-documents.ts';

/** Words of drafts and of examples, which no operator's imprint has. */
const placeholder =
  /\b(?:TODO|TBD|FIXME|XXX+|lorem ipsum|Mustermann|Musterfrau|Musterstra(?:ß|ss)e|John Doe|Jane Doe)\b/i;

/** White space and line breaks make no other text. */
const plain = (text: string) => text.replaceAll(/\s+/g, ' ').trim();

const read = (dir: string, lang: string): string | undefined => {
  const file = join(dir, lang, 'imprint.md');
  return existsSync(file) ? plain(readUtf8File(file)) : undefined;
};

/**
 * The faults of imprints that do not name the operator: the shipped texts, drafts, and none at all. Many countries require
 * name, address and a way of contact (in the European Union directive 2000/31/EC, article 5).
 * @param dir LEGAL_DIR; its files can be read
 */
export function findImprintFaults(dir: string | undefined): string[] {
  const todo = 'write who runs this site, the address, and how to reach them';
  if (dir === undefined) {
    return [`is not set, so the imprint names no operator; copy config/legal, and in imprint.md ${todo}`];
  }
  const shipped = new Set(languages.map((lang) => read(shippedLegalDir, lang)));
  return languages.flatMap((lang) => {
    const text = read(dir, lang);
    const file = join(dir, lang, 'imprint.md');
    if (text === undefined) return [];
    if (shipped.has(text)) return [`${file} is the imprint that comes with Foyer, and names no operator; ${todo}`];
    const [word] = placeholder.exec(text) ?? [];
    return word === undefined ? [] : [`${file} has the placeholder "${word}"; ${todo}`];
  });
}
