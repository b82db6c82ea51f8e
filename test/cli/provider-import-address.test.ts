import { rmSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { listenOnFreePort } from '../support/foyer.ts';
import { discoveryJson, metadataXml } from '../support/provider-documents.ts';
import { createProviderFolder } from './provider-folder.ts';

const folder = createProviderFolder();
const { cli, entry, file, first, importText, local } = folder;

describe('foyer provider import', () => {
  let server: Server;
  let url: string;
  let answer: (req: IncomingMessage, res: ServerResponse) => void;
  const requests: string[] = [];

  beforeAll(async () => {
    const listened = await listenOnFreePort((req, res) => {
      requests.push(req.url ?? '');
      answer(req, res);
    });
    server = listened.server;
    url = `http://127.0.0.1:${listened.port}`;
  });
  beforeEach(() => {
    folder.clear();
    requests.length = 0;
  });
  afterAll(() => {
    server?.closeAllConnections();
    server?.close();
    folder.remove();
  });

  describe('of an OpenID provider', () => {
    const discovery = '/.well-known/openid-configuration';
    const options = ['--client-id', 'foyer', '--client-secret-variable', 'ACME_SECRET'];

    it('A discovery document becomes an entry that the server accepts in production', async () => {
      const run = await importText(discoveryJson('https://id.acme.example'), ...options, '--name', 'Acme');
      expect(run).toMatchObject({ code: 0, err: '' });
      expect(run.out).toContain('https://id.acme.example/authorize');
      expect(entry()).toEqual({
        kind: 'oidc',
        id: 'acme',
        name: 'Acme',
        issuer: 'https://id.acme.example',
        clientId: 'foyer',
        clientSecretVariable: 'ACME_SECRET',
      });
      expect(await cli('provider', 'list')).toMatchObject({ code: 0, err: '' });
      expect((await importText(discoveryJson('https://id.acme.example'))).out).toContain('acme: unchanged');
    });

    it('A client secret that stands in the file stays there, is not printed, and gives way to a variable', async () => {
      const entryWith = {
        kind: 'oidc',
        id: 'acme',
        name: 'Acme',
        issuer: 'https://id.acme.example',
        clientId: 'foyer',
      };
      folder.start({ providers: [{ ...entryWith, clientSecret: 'a secret of the file' }] });
      const document = discoveryJson('https://id.acme.example');
      for (const options of [
        ['--name', 'Acme Corporate'],
        ['--name', 'Acme', '--json'],
      ]) {
        const run = await importText(document, ...options);
        expect(run).toMatchObject({ code: 0, err: '' });
        expect(run.out).not.toContain('a secret of the file');
        expect(entry()?.clientSecret).toBe('a secret of the file');
      }
      expect(await importText(document, '--client-secret-variable', 'ACME_SECRET')).toMatchObject({ code: 0 });
      expect(entry()).toEqual({ ...entryWith, clientSecretVariable: 'ACME_SECRET' });
    });

    it('The address of an issuer leads to its discovery document', async () => {
      const issuer = `${url}/realms/acme`;
      answer = (req, res) => {
        if (req.url === `/realms/acme${discovery}`) return void res.end(discoveryJson(issuer));
        res.statusCode = req.url === '/realms/acme' ? 404 : 500;
        res.end();
      };
      for (const address of [issuer, `${issuer}/`, `${issuer}${discovery}`]) {
        rmSync(file, { force: true });
        expect(await local('provider', 'import', address, '--id', 'acme', '--client-id', 'foyer')).toMatchObject({
          code: 0,
          err: '',
        });
        expect(entry()?.issuer).toBe(issuer);
      }
    });

    it('A document of another issuer, one without an endpoint and a missing client id are refused', async () => {
      answer = (_req, res) => void res.end(discoveryJson('https://id.acme.example'));
      expect(await local('provider', 'import', url, '--id', 'acme', ...options)).toMatchObject({
        code: 1,
        err: expect.stringContaining('of another issuer: https://id.acme.example'),
      });
      const plain = discoveryJson('https://id.acme.example', { token_endpoint: 'http://id.acme.example/token' });
      expect(await importText(plain, ...options)).toMatchObject({
        code: 1,
        err: expect.stringContaining('token_endpoint is no https address'),
      });
      expect(await importText(discoveryJson('https://id.acme.example'))).toMatchObject({
        code: 1,
        err: expect.stringContaining('--client-id'),
      });
      expect(await importText('{"issuer": "https://id.acme.example"}', ...options)).toMatchObject({
        code: 1,
        err: expect.stringContaining('lacks authorization_endpoint, token_endpoint, jwks_uri'),
      });
    });
  });

  describe('of an address', () => {
    const importUrl = (path: string) => local('provider', 'import', `${url}${path}`, '--id', 'acme');

    it('The address of SAML metadata becomes metadataUrl', async () => {
      answer = (_req, res) => void res.end(metadataXml({ signing: [first] }));
      expect(await importUrl('/metadata')).toMatchObject({ code: 0, err: '' });
      expect(entry()?.metadataUrl).toBe(`${url}/metadata`);
      expect(requests).toEqual(['/metadata']);
    });

    it('Requests go to the given address alone: no redirect and no address in the document is followed', async () => {
      answer = (req, res) => {
        res.writeHead(req.url === '/metadata' ? 302 : 404, { location: `${url}/inside` });
        res.end();
      };
      expect(await importUrl('/metadata')).toMatchObject({
        code: 1,
        err: expect.stringContaining('redirects are not followed'),
      });
      expect(requests).not.toContain('/inside');
    });

    it.each<[string, (res: ServerResponse) => void, string]>([
      ['answers a page', (res) => void res.end('<!DOCTYPE html><html></html>'), 'a page for people'],
      ['answers 404', (res) => void res.writeHead(404).end(), 'it answers 404'],
      ['sends more than a megabyte', (res) => void res.end(`<a>${'x'.repeat(1_100_000)}</a>`), 'longer than 1048576'],
      ['breaks off', (res) => void res.destroy(), 'UND_ERR_SOCKET'],
    ])('The import refuses an address that %s', async (_what, respond, reason) => {
      answer = (_req, res) => respond(res);
      expect(await importUrl('/metadata')).toMatchObject({ code: 1, err: expect.stringMatching(reason) });
    });

    it('Plain http is refused in production, and everywhere but on this machine', async () => {
      for (const [run, address] of [
        [cli, `${url}/metadata`],
        [cli, 'http://idp.acme.example/metadata'],
        [local, 'http://idp.acme.example/metadata'],
        [local, 'ftp://idp.acme.example/metadata'],
        [local, 'https://user:secret@idp.acme.example/metadata'],
      ] as const) {
        expect(await run('provider', 'import', address, '--id', 'acme')).toMatchObject({ code: 1, out: '' });
      }
      expect(requests).toEqual([]);
    });
  });
});
