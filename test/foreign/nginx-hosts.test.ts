import { once } from 'node:events';
import { createServer } from 'node:http';
import { freePort } from '../support/services.ts';
import { waitFor } from '../support/wait-for.ts';
import { askSite, type Site, startSite } from './nginx-sites.ts';

/** A host that answers its name, and that stops and listens again within a moment. */
async function makeHost(name: string) {
  const port = await freePort();
  const server = createServer((_, response) => response.end(name));
  return {
    port,
    async start() {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
    async stop() {
      if (!server.listening) return;
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
type Host = Awaited<ReturnType<typeof makeHost>>;

const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0)) await end();
});

/** More requests than nginx has hosts to choose from. */
async function askOften(site: Site): Promise<string[]> {
  const answers: string[] = [];
  for (let i = 0; i < 6; i += 1) {
    const { status, text } = await askSite(site, '/');
    answers.push(status === 200 ? text : String(status));
  }
  return answers;
}

const everyTime = (name: string) => Array.from({ length: 6 }, () => name);

async function startAll(name: Parameters<typeof startSite>[0]): Promise<[Site, Host, Host]> {
  const hosts: [Host, Host] = [await makeHost('first'), await makeHost('second')];
  const site = await startSite(name, [hosts[0].port, hosts[1].port]);
  endings.push(hosts[0].stop, hosts[1].stop, site.stop);
  for (const host of hosts) await host.start();
  await waitFor(async () => expect(new Set(await askOften(site))).toEqual(new Set(['first', 'second'])));
  return [site, ...hosts];
}

describe.each(['examples/several-hosts', 'config/docker'] as const)('%s/nginx.conf', (name) => {
  it('A host that is ready again answers when the other one stops, though nginx still leaves it alone', async () => {
    const [site, first, second] = await startAll(name);
    await waitFor(async () => {
      await first.stop();
      expect(await askOften(site)).toEqual(everyTime('second'));
      await first.start();
      // It met the refused connection, and now sends nothing there for some seconds.
      expect(await askOften(site)).toEqual(everyTime('second'));
    });
    await second.stop();
    expect(await askOften(site)).toEqual(everyTime('first'));
  });
});
