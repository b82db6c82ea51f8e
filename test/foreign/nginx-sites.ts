import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../../scripts/lib/processes.mjs';
import { makeCertificate } from '../support/certificate.ts';
import { freePort } from '../support/services.ts';

/** The files of nginx that the repository has for two hosts, started with the addresses of this machine. */

export const siteHost = 'login.example.com';

export interface Site {
  port: number;
  /** The certificate of the site, its own authority. */
  ca: string;
  stop(): Promise<void>;
}

interface Places {
  folder: string;
  port: number;
  /** Ports of the two hosts. */
  hosts: readonly [number, number];
}

async function readExample({ folder, port, hosts }: Places): Promise<string> {
  const site = (await readFile(join(root, 'examples/several-hosts/nginx.conf'), 'utf8'))
    .replaceAll('10.0.0.11:3000', `127.0.0.1:${hosts[0]}`)
    .replaceAll('10.0.0.12:3000', `127.0.0.1:${hosts[1]}`)
    .replace('listen 443', `listen 127.0.0.1:${port}`)
    .replaceAll('/etc/ssl/foyer', folder);
  return `worker_processes 1;\nevents {}\nhttp {\naccess_log off;\n${site}}\n`;
}

async function readContainers({ folder, port, hosts }: Places): Promise<string> {
  // Debian's nginx is older than the image's: it has neither `resolve` nor `http2 on`. The name server is Docker's.
  return (await readFile(join(root, 'config/docker/nginx.conf'), 'utf8'))
    .replace(/^ *(resolver|http2|listen \[::\]) .*\n/gm, '')
    .replaceAll('foyer-1:3000 resolve', `127.0.0.1:${hosts[0]}`)
    .replaceAll('foyer-2:3000 resolve', `127.0.0.1:${hosts[1]}`)
    .replace('listen 443', `listen 127.0.0.1:${port}`)
    .replace('listen 80', `listen 127.0.0.1:${await freePort()}`)
    .replaceAll('/etc/nginx/certificates', folder)
    .replace('http {', 'http {\n  access_log off;');
}

const files = { 'examples/several-hosts': readExample, 'config/docker': readContainers };

/** Starts nginx with the file of that folder. @param hosts ports of the two hosts, which need not listen yet */
export async function startSite(name: keyof typeof files, hosts: readonly [number, number]): Promise<Site> {
  const folder = await mkdtemp(join(tmpdir(), 'foyer-nginx-'));
  const port = await freePort();
  const { cert, key } = makeCertificate([siteHost], Date.now() - 60_000, Date.now() + 3_600_000);
  await writeFile(join(folder, 'fullchain.pem'), cert);
  await writeFile(join(folder, 'privkey.pem'), key);
  const path = join(folder, 'nginx.conf');
  await writeFile(path, await files[name]({ folder, port, hosts }));
  const flags = `daemon off; pid ${folder}/nginx.pid; error_log stderr crit;`;
  const nginx = spawn('/usr/sbin/nginx', ['-c', path, '-g', flags], { stdio: ['ignore', 'ignore', 'inherit'] });
  return {
    port,
    ca: cert,
    async stop() {
      if (nginx.exitCode === null && nginx.kill('SIGTERM')) await once(nginx, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** One request by TLS to nginx, as a browser sends it for the public name. */
export function askSite({ port, ca }: Site, path: string): Promise<{ status: number | undefined; text: string }> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, ca, servername: siteHost, headers: { host: siteHost } };
    request(options, (response) => {
      response.setEncoding('utf8');
      let text = '';
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode, text }));
    })
      .on('error', reject)
      .end();
  });
}
