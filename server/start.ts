import type { Server } from 'node:http';
import { createServer, type RequestListener } from 'node:http';
import type { Duplex } from 'node:stream';
import { ConfigurationError } from '../config/load.ts';
import { createApp } from './app.ts';
import { type Deps, openDeps } from './deps.ts';
import { createDemoApp, demoMember, isStamped, seedSandbox, stampSandbox } from './sandbox/index.ts';
import { migrate, SealBroken, StoreUnavailable } from './store/index.ts';

/** A start that cannot go on, for a reason that the operator can mend. */
class CannotStart extends Error {
  override name = 'CannotStart';
}

/** What Node's parser refuses never reaches Express, so it is answered here. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') return;
  const [status, text] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', 'The request headers are too large.']
      : ['400 Bad Request', 'The request cannot be read.'];
  socket.end(
    `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
  );
}

function listen(listener: RequestListener, port: number, host: string): Promise<Server> {
  const server = createServer({ maxHeaderSize: 16_384, requestTimeout: 30_000, headersTimeout: 15_000 }, listener);
  server.on('clientError', refuseUnreadable);
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new CannotStart(`Port ${port} is in use: set PORT (or SANDBOX_PORT) to another one.`)
          : error,
      ),
    );
    server.listen(port, host, () => resolve(server));
  });
}

const close = (server: Server) =>
  new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
    setTimeout(() => server.closeAllConnections(), 5_000).unref();
  });

export interface Running {
  stop(): Promise<void>;
}

/** Migrates, listens, and in the sandbox brings the demo member and the demo client app along. */
export async function run(deps: Deps, say: (line: string) => void): Promise<Running> {
  const { config, database, kv, now } = deps;
  const { applied } = await migrate(database);
  if (applied.length > 0)
    say(`Database: applied ${applied.length === 1 ? '1 migration' : `${applied.length} migrations`}`);
  if (config.production && (await isStamped(database))) {
    throw new CannotStart(
      'This database has been used by a sandbox, so its demo member has a known password: set DATABASE_URL or DATA_DIR to another one.',
    );
  }
  const { app, stop } = await createApp(deps);
  const servers = [await listen(app, config.PORT, config.production ? '0.0.0.0' : '127.0.0.1')];
  const lines = [`${config.BRAND_NAME} is ready: ${config.PUBLIC_URL}`];
  if (config.SANDBOX) {
    const demoOrigin = `http://127.0.0.1:${config.SANDBOX_PORT}`;
    await stampSandbox(database, now());
    await seedSandbox(deps, demoOrigin);
    const demo = createDemoApp({
      ...deps,
      issuer: config.PUBLIC_URL,
      origin: demoOrigin,
      brandName: config.BRAND_NAME,
    });
    servers.push(await listen(demo, config.SANDBOX_PORT, '127.0.0.1'));
    lines.push(
      `Demo member:     ${demoMember.email}  password: ${demoMember.password}`,
      `Demo client app: ${demoOrigin}`,
      'Stop with Ctrl-C.',
    );
  }
  for (const line of lines) say(line);
  return {
    async stop() {
      await Promise.all(servers.map(close));
      await stop();
      await Promise.all([kv.close(), database.close()]);
    },
  };
}

/** What the operator can mend is said in plain words, without a stack. */
function explain(error: unknown): string {
  if (error instanceof ConfigurationError || error instanceof CannotStart) return error.message;
  if (error instanceof StoreUnavailable) return `A store does not answer: ${error.message}`;
  if (error instanceof SealBroken)
    return 'SECRET_KEY does not open what is stored: write the key that was in use before, behind the new one and a comma.';
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** The server process: starts, and stops on SIGINT and SIGTERM. */
export async function start(): Promise<void> {
  try {
    const deps = await openDeps(process.env);
    const running = await run(deps, (line) => console.log(line));
    let stopping = false;
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        if (stopping) return;
        stopping = true;
        running.stop().then(
          () => process.exit(0),
          (error: unknown) => {
            deps.log.error({ err: error }, 'could not stop cleanly');
            process.exit(1);
          },
        );
      });
    }
  } catch (error) {
    console.error(explain(error));
    process.exit(1);
  }
}
