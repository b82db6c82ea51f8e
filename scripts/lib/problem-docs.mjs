/** The table of docs/json-api.md about the problem types. */

const heading = /(\| type, after `urn:foyer:problem:` \|[^\n]+\n\| ---[^\n]+\n)(?:\|[^\n]+\n)*/;

/**
 * @param {string} text of docs/json-api.md
 * @param {Readonly<Record<string, { status: number }>>} problems
 * @param {Readonly<Record<string, { cause: string, remedy: string }>>} docs
 * @returns {string} the same with the row of each problem
 */
export function withProblemRows(text, problems, docs) {
  if (!heading.test(text)) throw new Error('docs/json-api.md has no table of the problem types');
  const rows = Object.entries(problems).map(([name, { status }]) => {
    const { cause, remedy } = docs[name] ?? { cause: '', remedy: '' };
    return `| \`${name}\` | ${status} | ${cause} | ${remedy} |`;
  });
  return text.replace(heading, (_, head) => `${head}${rows.join('\n')}\n`);
}
