/** `npm run docs`: writes the generated parts of docs/. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configurationReference } from './lib/configuration-docs.mjs';
import { root } from './lib/paths.mjs';
import { rateLimitReference } from './lib/rate-limit-docs.mjs';

const exampleEnv = readFileSync(join(root, 'config/example.env'), 'utf8');
const { variableNames } = await import(join(root, 'config/schema.ts'));
const { apiCallsPerMinute, rateLimits } = await import(join(root, 'server/rate-limits/limits.ts'));
const { specialLimits } = await import(join(root, 'server/rate-limits/special-limits.ts'));
const limits = rateLimitReference(rateLimits, specialLimits, apiCallsPerMinute);
writeFileSync(join(root, 'docs/configuration.md'), configurationReference(exampleEnv, variableNames, limits));
