import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';
import { testForeignClients } from './client-tests.ts';
import { debianClients } from './debian-clients.ts';

const run = promisify(execFile);

testForeignClients(debianClients);

describe('curl', () => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
  });
  afterAll(() => foyer?.close());

  it.each([
    ['raw Basic credentials', (id: string, secret: string) => ['-u', `${id}:${secret}`]],
    [
      'a form',
      (id: string, secret: string) => ['-d', `client_id=${id}`, '--data-urlencode', `client_secret=${secret}`],
    ],
    [
      'percent-encoded Basic credentials',
      (id: string, secret: string) => ['-u', [id, secret].map((text) => text.replaceAll('-', '%2D')).join(':')],
    ],
  ])('A client authenticates at the token endpoint by %s', async (_name, toOptions) => {
    const { id, secret } = await foyer.addClient({
      id: `shop-${Date.now()}`,
      service: true,
      scopes: ['openid', 'users:read'],
    });
    const form = ['-d', 'grant_type=client_credentials', '-d', 'scope=users:read'];
    const { stdout } = await run('curl', ['-s', `${foyer.url}/oauth2/token`, ...form, ...toOptions(id, secret ?? '')]);
    expect(JSON.parse(stdout)).toMatchObject({ token_type: 'Bearer', scope: 'users:read' });
  });
});
