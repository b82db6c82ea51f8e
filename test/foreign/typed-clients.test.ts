import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { foreignFolder } from '../../scripts/lib/foreign.mjs';
import { insertUserRecord } from '../../server/users/index.ts';
import { signedInto } from '../api/callers.ts';
import { type Shop, startShop } from '../billing/steps.ts';
import { sendRequest } from '../support/send-request.ts';
import { anyBackend } from '../support/stores.ts';
import { toOpenApi30 } from './openapi-30.ts';

const run = promisify(execFile);
const packages = createRequire(join(foreignFolder, 'package.json'));
const bin = (name: string) => join(foreignFolder, 'node_modules/.bin', name);

/** How each generator makes a client of the document in its folder. */
const generators = {
  'openapi-typescript': () => [bin('openapi-typescript'), 'openapi.json', '-o', 'generated.ts'],
  'hey-api': () => [bin('openapi-ts'), '-i', 'openapi.json', '-o', 'generated'],
  orval: () => [bin('orval'), '--input', 'openapi.json', '--output', 'generated.ts', '--client', 'fetch'],
};

const strict = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    noUncheckedIndexedAccess: true,
    target: 'es2023',
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2023', 'dom', 'dom.iterable'],
    types: ['node'],
    skipLibCheck: true,
  },
  include: ['*.ts', 'generated/**/*.ts'],
};

/** What the five calls of each client print. */
const typedResults = {
  flow: expect.any(Number),
  createdAt: expect.any(Number),
  amount: expect.any(Number),
  subscription: 'trialing',
  status: 'SUCCESS',
};

/** The document as a public host serves it: linters refuse localhost. */
const onPublicHost = (document: string) =>
  JSON.parse(document.replace(/http:\/\/localhost:\d+/g, 'https://login.foyer.test'));

describe('clients that generators make of /openapi.json', () => {
  let shop: Shop;
  let document: string;
  const folders: string[] = [];
  beforeAll(async () => {
    shop = await startShop(anyBackend);
    document = await (await sendRequest(`${shop.foyer.url}/openapi.json`)).text();
  });
  afterAll(async () => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    await shop?.close();
  });

  /** A member with a record, and the environment of the client that acts for them. */
  async function memberOfClient() {
    const { foyer } = shop;
    const { user, tokens } = await signedInto(foyer, 'openid account');
    await foyer.deps.database.transaction((trx) => insertUserRecord(trx, user.id, foyer.deps.now()));
    return { env: { PATH: process.env.PATH, FOYER: foyer.url, TOKEN: tokens.access_token, EMAIL: user.email } };
  }

  async function generate(name: keyof typeof generators): Promise<string> {
    const folder = mkdtempSync(join(foreignFolder, `${name}-`));
    folders.push(folder);
    writeFileSync(join(folder, 'openapi.json'), document);
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(strict));
    copyFileSync(join(import.meta.dirname, `apps/typed/${name}.txt`), join(folder, 'calls.ts'));
    const [command = '', ...args] = generators[name]();
    await run(command, args, { cwd: folder });
    return folder;
  }

  it.each(Object.keys(generators) as (keyof typeof generators)[])(
    'The client of %s compiles under strict types and makes five calls with typed results',
    async (name) => {
      const folder = await generate(name);
      await run(bin('tsc'), ['-p', '.'], { cwd: folder }).catch((error) => {
        throw new Error(String(Object(error).stdout));
      });
      const bundle = await rolldown({ input: join(folder, 'calls.ts'), platform: 'node' });
      await bundle.write({ file: join(folder, 'calls.mjs'), format: 'esm' });
      const { env } = await memberOfClient();
      const { stdout } = await run(process.execPath, ['calls.mjs'], { cwd: folder, env });
      expect(JSON.parse(stdout)).toEqual(typedResults);
    },
  );

  it('The client of openapi-generator for Python makes five calls with typed results', async () => {
    const folder = mkdtempSync(join(foreignFolder, 'python-'));
    folders.push(folder);
    writeFileSync(join(folder, 'openapi.json'), toOpenApi30(document));
    copyFileSync(join(import.meta.dirname, 'apps/typed/openapi-generator-python.txt'), join(folder, 'calls.py'));
    const jar = join(
      packages.resolve('@openapitools/openapi-generator-cli/package.json'),
      '../bin/openapi-generator.jar',
    );
    const args = ['-jar', jar, 'generate', '-g', 'python', '-i', 'openapi.json', '-o', '.', '--skip-validate-spec'];
    await run('java', args, { cwd: folder, maxBuffer: 64 * 1024 * 1024 });
    await run('/usr/bin/python3', ['-m', 'compileall', '-q', 'openapi_client'], { cwd: folder });
    const { env } = await memberOfClient();
    const { stdout } = await run('/usr/bin/python3', ['calls.py'], { cwd: folder, env });
    expect(JSON.parse(stdout)).toEqual(typedResults);
  }, 120_000);

  it('Spectral and Redocly have no warning about the document', async () => {
    const { Spectral } = packages('@stoplight/spectral-core');
    const { oas } = packages('@stoplight/spectral-rulesets');
    const spectral = new Spectral();
    spectral.setRuleset({ extends: [[oas, 'recommended']] });
    const found: { code: string; path: string[] }[] = await spectral.run(onPublicHost(document));
    expect(found.map(({ code, path }) => `${code}: ${path.join('.')}`)).toEqual([]);
    const { createConfig, lintFromString } = packages('@redocly/openapi-core');
    // The specification names /customer/{id}/billing-details and /customer/signup/{id}, which could be one address.
    const config = await createConfig({ extends: ['recommended'], rules: { 'no-ambiguous-paths': 'off' } });
    const problems: { ruleId: string; message: string }[] = await lintFromString({
      source: JSON.stringify(onPublicHost(document)),
      config,
    });
    expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
  });
});
