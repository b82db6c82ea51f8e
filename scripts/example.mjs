/**
 * `npm run example -- express`: registers an example at the Foyer that runs on this machine, with the operator's
 * command, and starts it. ISSUER names another Foyer with the same stores, PORT another port of the example.
 */
import { join } from 'node:path';
import { examples } from './lib/examples.mjs';
import { node24, root, toolEnv } from './lib/paths.mjs';
import { command, start } from './lib/processes.mjs';
import { exitCodeOf, makeReady, nodeSettings } from './lib/ready.mjs';
import { createSay, Failure } from './lib/say.mjs';

const { ISSUER = 'http://localhost:3000', PORT } = process.env;
const answerLimitMs = 5_000;
const notFound = 3;

/** @param {string} path */
const ask = (path) =>
  fetch(new URL(path, ISSUER), { signal: AbortSignal.timeout(answerLimitMs) }).catch(() => undefined);

async function demandFoyer() {
  const answer = await ask('/.well-known/openid-configuration');
  if (!answer?.ok) throw new Failure(`No Foyer answers at ${ISSUER}: start one with "npm start" in another terminal.`);
}

/** The operator's command. @param {string[]} argv @param {number[]} [alsoFine] */
async function foyer(argv, alsoFine = []) {
  const entry = join(root, 'dist/server/cli/main.js');
  const child = start(node24, [entry, ...argv], { cwd: root, env: toolEnv(nodeSettings()) });
  const { code, output } = await child.ended;
  if (code !== 0 && !alsoFine.includes(code ?? -1)) throw new Failure(output.trim());
  return { code, output };
}

/**
 * Registers it, or updates its registration, and gives it a new secret: Foyer stores only a hash of the old one.
 * @param {import('./lib/examples.mjs').Example} example
 * @param {string} url
 * @returns {Promise<string | undefined>} the secret of a client that has one
 */
async function register({ id, title, registration }, url) {
  const options = ['--name', title, ...registration(url), '--json'];
  const secret = options.includes('--public') ? [] : ['--new-secret'];
  const known = await foyer(['client', 'update', id, ...options, ...secret], [notFound]);
  const { output } = known.code === notFound ? await foyer(['client', 'add', '--id', id, ...options]) : known;
  // Other output may precede it.
  return JSON.parse(output.slice(output.indexOf('{'))).client_secret;
}

/** Checks that Foyer and the command use the same stores. @param {string} id @param {string} url */
async function demandKnown(id, url) {
  const answer = await ask(`/verifyClient?${new URLSearchParams({ client_id: id, logout_uri: `${url}/` })}`);
  if (answer?.status !== 200)
    throw new Failure(
      `${ISSUER} does not know ${id}, which is registered now: does it run from this folder, with the same DATA_DIR and DATABASE_URL?`,
    );
}

await command(async () => {
  const [name = ''] = process.argv.slice(2);
  const example = Object.hasOwn(examples, name) ? examples[name] : undefined;
  if (!example) throw new Failure(`Which example? ${Object.keys(examples).join(', ')} (npm run example -- express)`, 2);
  const say = createSay(process.stderr);
  await demandFoyer();
  await makeReady(say);
  const port = String(PORT ?? example.port ?? '');
  const url = `http://127.0.0.1:${port}`;
  const secret = await register(example, url);
  if (example.port !== undefined) await demandKnown(example.id, url);
  say.line(`${example.id} is registered at ${ISSUER}`);
  const env = toolEnv({
    ...nodeSettings(),
    ISSUER,
    CLIENT_ID: example.id,
    ...(example.port !== undefined && { APP_URL: url, PORT: port }),
    ...(secret !== undefined && { CLIENT_SECRET: secret }),
  });
  const script = join(root, 'examples', example.script);
  return exitCodeOf(start(node24, [script], { cwd: root, env, stdio: 'inherit' }));
});
