/**
 * `npm run docs`: writes the standard providers into config/example.env and docs/providers.md, there also the attributes of SAML; docs/configuration.md from
 * config/example.env, the schema and the rate limits; docs/commands.md from the help of `foyer`; the attributes and
 * problem types of docs/json-api.md; and the tables' types.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServer } from 'vite';
import { variableNames } from '../config/schema.ts';
import { problemDocs } from '../server/http/problem-docs.ts';
import { apiProblems } from '../server/http/problems.ts';
import { apiCallsPerMinute, rateLimits } from '../server/http/rate-limits/limits.ts';
import { specialLimits } from '../server/http/rate-limits/special-limits.ts';
import { commandReference } from './lib/command-docs.mjs';
import { withProblemRows } from './lib/problem-docs.mjs';
import { root } from './lib/processes.mjs';
import { withProfileRows } from './lib/profile-docs.mjs';
import { withAttributeRows, withStandardRows, withStandardVariables } from './lib/provider-docs.mjs';
import { rateLimitReference } from './lib/rate-limit-docs.mjs';
import { readColumns, tableSources } from './lib/table-types.mjs';

/**
 * The text of config/example.env about each variable as Markdown, in its order.
 * @param {string} exampleEnv the text of config/example.env, which a test compares with the schema
 * @param {readonly string[]} variableNames of the schema
 * @param {readonly string[]} rateLimits the lines of `rateLimitReference`
 * @returns {string}
 */
export function configurationReference(exampleEnv, variableNames, rateLimits) {
  const blocks = exampleEnv.split(/\n{2,}/).map((block) => block.trim());
  const lines = [
    '# Configuration',
    '',
    'Generated from `config/example.env` and `config/schema.ts` by `npm run docs`; a test fails when it is stale. Every variable is an',
    'environment variable; an empty value counts as not set; all faults are listed at once at start.',
  ];
  const written = new Set();
  for (const block of blocks) {
    const heading = /^# ── (.+?) ─+$/.exec(block);
    if (heading) {
      lines.push('', `## ${heading[1]}`);
      continue;
    }
    const names = [...block.matchAll(/^#?([A-Z][A-Z0-9_]*)=(.*)$/gm)].map(([, name = '', value = '']) => ({
      name,
      value,
    }));
    if (names.length === 0) continue;
    const said = block
      .split('\n')
      .filter((line) => /^#( |$)/.test(line))
      .map((line) => line.replace(/^# ?/, ''));
    lines.push('', names.map(({ name }) => `### ${name}`).join('\n\n'), '');
    for (const line of said) lines.push(line.startsWith('  ') ? `\`${line.trim()}\`  ` : line.replace(/</g, '\\<'));
    const examples = names.filter(({ value }) => value !== '').map(({ name, value }) => `${name}=${value}`);
    if (examples.length > 0) lines.push('', '```sh', ...examples, '```');
    for (const { name } of names) written.add(name);
  }
  const missing = variableNames.filter((name) => !written.has(name));
  if (missing.length > 0) throw new Error(`config/example.env says nothing of ${missing.join(', ')}`);
  lines.push('', ...rateLimits);
  return `${lines.join('\n')}\n`;
}

/** The fields of the profile and the command line. Node cannot read the components that they import. */
async function readSources() {
  const vite = await createServer({ root, configFile: false, server: { middlewareMode: true }, appType: 'custom' });
  try {
    const { profileFields } = await vite.ssrLoadModule('/server/users/profile-fields.ts');
    const { createFoyer } = await vite.ssrLoadModule('/server/cli/run.ts');
    const io = { env: {}, stdin: process.stdin, stdout: process.stdout, stderr: process.stderr };
    return { fields: Object.values(profileFields), commands: commandReference(createFoyer(io)) };
  } finally {
    await vite.close();
  }
}

if (import.meta.main) {
  const exampleEnv = withStandardVariables(readFileSync(join(root, 'config/example.env'), 'utf8'));
  const providers = join(root, 'docs/providers.md');
  writeFileSync(join(root, 'config/example.env'), exampleEnv);
  writeFileSync(providers, withAttributeRows(withStandardRows(readFileSync(providers, 'utf8'))));
  const calls = join(root, 'docs/json-api.md');
  const { fields, commands } = await readSources();
  const withProblems = withProblemRows(readFileSync(calls, 'utf8'), apiProblems, problemDocs);
  writeFileSync(calls, withProfileRows(withProblems, fields));
  writeFileSync(join(root, 'docs/commands.md'), commands);
  const limits = rateLimitReference(rateLimits, specialLimits, apiCallsPerMinute);
  writeFileSync(join(root, 'docs/configuration.md'), configurationReference(exampleEnv, variableNames, limits));
  for (const [file, source] of tableSources(await readColumns()))
    writeFileSync(join(root, 'server/store', file), source);
}
