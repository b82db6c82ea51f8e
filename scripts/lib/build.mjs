/** Builds the server (tsc, then joined by Rolldown) and the browser's assets (Vite) into dist/, if a source has changed. */
import { existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { bin, node24, root, toolEnv } from './paths.mjs';
import { run } from './processes.mjs';
import { Failure, seconds } from './say.mjs';
import { listFiles, readStamp, sameContent, takeStamp, writeStamp } from './stamp.mjs';

/** The folders of tsc's output of the product. */
const PRODUCT = ['server', 'views', 'config', 'locales'];
const SANDBOX = 'sandbox';
const OTHER_INPUTS = [
  'client',
  'tsconfig.json',
  'vite.config.ts',
  'package-lock.json',
  'scripts/lib/build.mjs',
  'scripts/lib/bundle.mjs',
];

/** Whether a build includes the sandbox: one with NODE_ENV=production does not. */
const hasSandbox = () => process.env.NODE_ENV !== 'production';
const emittedFolders = () => (hasSandbox() ? [...PRODUCT, SANDBOX] : PRODUCT);

/** The entry of the server: the sandbox has its own. */
export const serverEntry = () => `dist/${hasSandbox() ? SANDBOX : 'server'}/main.js`;

const PRODUCT_OUTPUTS = ['server/main.js', 'run/start.js', 'run/cli.js', 'client/manifest.json'];
const outputs = () => [...PRODUCT_OUTPUTS, ...(hasSandbox() ? ['sandbox/main.js', 'run/sandbox.js'] : [])];
const dist = join(root, 'dist');
const stampPath = join(dist, '.foyer-build');

/**
 * The current sources.
 * @param {import('./stamp.mjs').Stamp} [known] an earlier stamp, which saves reading unchanged files
 */
export const sourceStamp = (known) => takeStamp(root, [...emittedFolders(), ...OTHER_INPUTS], known);

const viteConfig = () => (hasSandbox() ? `${SANDBOX}/vite.config.ts` : 'vite.config.ts');

const exist = (/** @type {string[]} */ paths) => paths.every((path) => existsSync(join(dist, path)));
const outputsExist = () => exist(outputs());

/** True if the product in dist/ was built from the current sources, whether or not the sandbox is beside it. */
export function isProductBuilt() {
  const known = readStamp(stampPath);
  if (!known || !exist(PRODUCT_OUTPUTS)) return false;
  const files = Object.entries(known.files).filter(([path]) => !path.startsWith(`${SANDBOX}/`));
  const now = takeStamp(root, [...PRODUCT, ...OTHER_INPUTS], known);
  return sameContent(now, { ...known, files: Object.fromEntries(files) });
}

/** True if dist/ was built from the current sources. */
export function isBuilt() {
  const known = readStamp(stampPath);
  if (!known || !outputsExist()) return false;
  const now = sourceStamp(known);
  if (!sameContent(now, known)) return false;
  // Only times differ (a checkout, a touch): stores them, so that the next check need not read the files.
  if (JSON.stringify(now) !== JSON.stringify(known)) writeStamp(stampPath, now);
  return true;
}

/** @typedef {{ name: string, ms: number, error?: Failure }} Step */

/**
 * Runs one tool of this tree.
 * @param {string} name
 * @param {string} tool a name in node_modules/.bin, or a path
 * @param {string[]} args
 * @returns {Promise<Step>} a failure is a value here: the other steps continue
 */
export async function step(name, tool, args) {
  const beganMs = performance.now();
  const outcome = run(name, resolve(bin, tool), args, { cwd: root, env: toolEnv() });
  const error = await outcome.then(() => undefined, asFailure);
  return { name, ms: performance.now() - beganMs, error };
}

/**
 * @param {Step} step
 * @returns {Step[]}
 */
const only = (step) => [step];

/** @returns {Promise<Step[]>} */
async function serverSteps() {
  const project = hasSandbox() ? `${SANDBOX}/tsconfig.json` : 'tsconfig.json';
  const emitted = await step('build server', 'tsc', ['-p', project, '--pretty', 'false']);
  if (emitted.error) return [emitted];
  return [
    emitted,
    await step('join server', node24, ['scripts/lib/bundle.mjs', ...(hasSandbox() ? ['--sandbox'] : [])]),
  ];
}

/** @param {unknown} error */
function asFailure(error) {
  if (error instanceof Failure) return error;
  throw error;
}

/**
 * The two halves of a build, in parallel. Call under the lock.
 * @returns {Promise<Step[]>}
 */
export async function buildSteps() {
  if (isBuilt()) return ['server', 'client'].map((name) => ({ name: `build ${name} (unchanged)`, ms: 0 }));
  const stamp = sourceStamp();
  // tsc's own incremental record is only valid if the last build was complete and still exists.
  if (!readStamp(stampPath) || !outputsExist()) rmSync(join(dist, '.tsbuildinfo'), { force: true });
  rmSync(stampPath, { force: true });
  removeLeftOvers();
  const built = await Promise.all([
    serverSteps(),
    step('build client', 'vite', ['build', '--config', viteConfig(), '--logLevel', 'warn']).then(only),
  ]);
  const steps = built.flat();
  if (steps.every(({ error }) => !error)) writeStamp(stampPath, stamp);
  return steps;
}

/** @param {import('./say.mjs').Say} say */
export async function build(say) {
  if (isBuilt()) return;
  await say.step('Building server and client', async () => {
    const steps = await buildSteps();
    const errors = steps.flatMap(({ error }) => error ?? []);
    const [first] = errors;
    if (first) throw new Failure(errors.map(({ message }) => message).join('\n\n'), first.exitCode);
    say.line(`  ${steps.map(({ name, ms }) => `${name} ${seconds(ms)}`).join(', ')}`);
  });
}

/** tsc leaves the output of deleted sources; Vite empties its folder itself. */
function removeLeftOvers() {
  const sources = new Set(listFiles(root, emittedFolders()).map((path) => path.replace(/\.tsx?$/, '.js')));
  for (const path of listFiles(dist, [...PRODUCT, SANDBOX])) {
    if (!sources.has(path.replace(/\.map$/, ''))) rmSync(join(dist, path));
  }
}
