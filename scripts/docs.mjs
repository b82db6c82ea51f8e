/** `npm run docs`: writes what of docs/ is generated. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configurationReference } from './lib/configuration-docs.mjs';
import { root } from './lib/paths.mjs';

const exampleEnv = readFileSync(join(root, 'config/example.env'), 'utf8');
const { variableNames } = await import(join(root, 'config/schema.ts'));
writeFileSync(join(root, 'docs/configuration.md'), configurationReference(exampleEnv, variableNames));
