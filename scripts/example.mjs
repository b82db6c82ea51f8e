/**
 * `npm run example -- express`: registers an example at the Foyer that runs on this machine, with the operator's
 * command, and starts it. ISSUER names another Foyer with the same stores, EXAMPLE_PORT another port of the example. (An
 * exported PORT is Foyer's own.)
 */
import { spawnSync } from 'node:child_process';
import { build } from './build.mjs';
import { command, Failure, nodeSettings, root, run } from './lib/processes.mjs';

/**
 * The examples, each with its registration, as in its README.
 * @typedef {object} Example
 * @property {string} id its client id
 * @property {string} title
 * @property {string} script under examples/
 * @property {number} [port] its port on 127.0.0.1, unless EXAMPLE_PORT is set; none: it is no server
 * @property {(url: string) => string[]} registration options of `foyer client add`; `url` is the address of the example
 */

/** @type {Readonly<Record<string, Example>>} */
const examples = {
  express: {
    id: 'express-example',
    title: 'Express example',
    script: 'express-app/app.mjs',
    port: 4000,
    registration: (url) => [
      ...['--redirect-uri', `${url}/callback`, '--logout-uri', `${url}/`, '--logback-uri', `${url}/sign-in`],
      ...['--backchannel-logout-uri', `${url}/backchannel-logout`],
    ],
  },
  browser: {
    id: 'browser-example',
    title: 'Browser example',
    script: 'browser-app/serve.mjs',
    port: 4100,
    registration: (url) => [
      ...['--public', '--redirect-uri', `${url}/`, '--logout-uri', `${url}/`, '--logback-uri', `${url}/`],
    ],
  },
  passport: {
    id: 'passport-example',
    title: 'Passport example',
    script: 'passport-app/app.mjs',
    port: 4200,
    registration: (url) => [
      ...['--redirect-uri', `${url}/callback`, '--logout-uri', `${url}/`, '--logback-uri', `${url}/sign-in`],
    ],
  },
  device: {
    id: 'device-example',
    title: 'Device example',
    script: 'device-app/device.mjs',
    // The dashboard cannot open it.
    registration: () => ['--public', '--device', '--hidden'],
  },
};

const { ISSUER = 'http://localhost:3000', EXAMPLE_PORT } = process.env;
const answerLimitMs = 5_000;
const notFound = 3;

/** @param {string} path */
const ask = (path) =>
  fetch(new URL(path, ISSUER), { signal: AbortSignal.timeout(answerLimitMs) }).catch(() => undefined);

async function demandFoyer() {
  const answer = await ask('/.well-known/openid-configuration');
  if (!answer?.ok) throw new Failure(`No Foyer answers at ${ISSUER}: start one with "npm start" in another terminal.`);
}

/** The operator's command. @param {string[]} args @param {number[]} [alsoFine] */
function foyer(args, alsoFine = []) {
  const cli = 'dist/server/cli/main.js';
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args], { cwd: root, encoding: 'utf8' });
  if (status !== 0 && !alsoFine.includes(status ?? -1)) throw new Failure(`${stdout}${stderr}`.trim());
  return { status, stdout };
}

/**
 * Registers it, or updates its registration, and gives it a new secret: Foyer stores only a hash of the old one.
 * @param {Example} example
 * @param {string} url
 * @returns {string | undefined} the secret of a client that has one
 */
function register({ id, title, registration }, url) {
  const options = ['--name', title, ...registration(url), '--json'];
  const secret = options.includes('--public') ? [] : ['--new-secret'];
  const known = foyer(['client', 'update', id, ...options, ...secret], [notFound]);
  const { stdout } = known.status === notFound ? foyer(['client', 'add', '--id', id, ...options]) : known;
  // Other output may precede it.
  return JSON.parse(stdout.slice(stdout.indexOf('{'))).client_secret;
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
  await demandFoyer();
  await build();
  const port = String(EXAMPLE_PORT ?? example.port ?? '');
  const url = `http://127.0.0.1:${port}`;
  const secret = register(example, url);
  if (example.port !== undefined) await demandKnown(example.id, url);
  console.error(`foyer: ${example.id} is registered at ${ISSUER}`);
  const env = {
    ...nodeSettings(),
    ISSUER,
    CLIENT_ID: example.id,
    ...(example.port !== undefined && { APP_URL: url, PORT: port }),
    ...(secret !== undefined && { CLIENT_SECRET: secret }),
  };
  return run(process.execPath, [`examples/${example.script}`], { env });
});
