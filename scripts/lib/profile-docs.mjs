/** The table of docs/json-api.md about the fields of the profile, from their entries. */

/**
 * @typedef {object} ProfileEntry
 * @property {string} attribute
 * @property {boolean} claim
 * @property {{ type?: string | undefined, maxLength?: number | undefined, required?: boolean | undefined }} html
 * @property {readonly string[] | undefined} [choices]
 */

/** @param {ProfileEntry} entry */
function toFormat({ choices, html: { type, maxLength, required } }) {
  if (choices !== undefined && choices.length > 10) return `one of a list, as \`${choices[0]}\``;
  if (choices !== undefined) return choices.map((choice) => `\`${choice}\``).join(', ');
  if (type === 'date') return 'a day, as `1990-12-31`';
  if (type === 'checkbox') return '`true`, `false`';
  return `${required ? '1' : '0'} to ${maxLength} characters${type === 'text' ? '' : ', also lines'}`;
}

const heading = /(\| attribute \| value \| claim of client apps \|\n\| ---[^\n]+\n)(?:\|[^\n]+\n)*/;

/**
 * @param {string} text of docs/json-api.md
 * @param {readonly ProfileEntry[]} entries in their order
 * @returns {string} the same with the row of each field
 */
export function withProfileRows(text, entries) {
  if (!heading.test(text)) throw new Error('docs/json-api.md has no table of the attributes');
  const rows = entries.map(
    (entry) => `| \`${entry.attribute}\` | ${toFormat(entry)} | ${entry.claim ? 'yes' : 'no'} |`,
  );
  return text.replace(heading, (_, head) => `${head}${rows.join('\n')}\n`);
}
