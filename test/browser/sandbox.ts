import type { RequestListener, Server } from 'node:http';
import { createDemoApp, demoClientId, seedSandbox } from '../../sandbox/index.ts';
import type { ClientRequest } from '../../server/oidc/index.ts';
import { listenOnFreePort, startFoyer, type TestFoyer } from '../support/foyer.ts';
import type { Backend } from '../support/stores.ts';

/** The sandbox as a newcomer has it: Foyer on localhost, the demo app on another site, the demo member. */
export interface Sandbox {
  foyer: TestFoyer;
  /** The demo app's address, without a slash at the end. */
  demoUrl: string;
  /** Another app on a port of its own, registered as a client of its own; answers its address. */
  addApp(client: Partial<ClientRequest> & { id: string; name: string }): Promise<string>;
  close(): Promise<void>;
}

export async function startSandbox(backend: Backend, environment: Record<string, string> = {}): Promise<Sandbox> {
  // The pages of the sandbox link the demo app by its port.
  const demo = await listenOnFreePort();
  // All tests come from one address.
  const foyer = await startFoyer(backend, {
    SIGN_UP_LIMIT_ADDRESS: '100000',
    GUESS_LIMIT_ADDRESS: '100000',
    PASSWORD_LIMIT_DEVICE: '100000',
    PASSWORD_LIMIT_MEMBER: '100000',
    SANDBOX_PORT: String(demo.port),
    ...environment,
  });
  const servers: Server[] = [];
  const { deps, url } = foyer;

  async function listen(
    app: (origin: string) => RequestListener,
    { server, port }: Awaited<ReturnType<typeof listenOnFreePort>>,
  ): Promise<string> {
    servers.push(server);
    const origin = `http://127.0.0.1:${port}`;
    server.on('request', app(origin));
    return origin;
  }
  const demoApp = (clientId: string) => (origin: string) =>
    createDemoApp({ ...deps, issuer: url, origin, clientId, brandName: deps.config.BRAND_NAME });

  const demoUrl = await listen(demoApp(demoClientId), demo);
  await seedSandbox({ ...deps, catalogue: foyer.app.membership.catalogue }, demoUrl);
  return {
    foyer,
    demoUrl,
    async addApp(client) {
      const origin = await listen(demoApp(client.id), await listenOnFreePort());
      await foyer.addClient({
        redirectUris: [`${origin}/callback`],
        logoutUris: [`${origin}/`],
        public: true,
        ...client,
      });
      return origin;
    },
    async close() {
      for (const server of servers) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
      await foyer.close();
    },
  };
}
