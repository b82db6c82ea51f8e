import { createServer } from 'node:net';
import { explainListenError } from '../../listen-fault.ts';
import { propertyIn } from '../../shared/index.ts';
import type { Finding } from './finding.ts';
import type { Setup } from './setup.ts';
import { fault, table } from './table.ts';

/** Ports below need rights on most systems. */
const firstFreePort = 1024;

/** The code of the error, if this user cannot listen there. A port in use is Foyer's own, when it runs. */
function tryListen(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => {
      const code = String(propertyIn(error, 'code'));
      resolve(code === 'EADDRINUSE' ? undefined : code);
    });
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

/** Whether the addresses of HOST and METRICS_HOST are of this machine, and the ports open to this user. */
export async function checkListening({ config, unreadable }: Setup): Promise<Finding[]> {
  const { PORT, HOST, METRICS_PORT, METRICS_HOST } = config;
  const places = [
    { port: PORT, host: HOST, variables: { port: 'PORT', host: 'HOST' } },
    ...(METRICS_PORT === undefined
      ? []
      : [{ port: METRICS_PORT, host: METRICS_HOST, variables: { port: 'METRICS_PORT', host: 'METRICS_HOST' } }]),
  ].filter(({ variables: { port, host } }) => !unreadable(port) && !unreadable(host));
  const found = places.map(async (place) => {
    // Any free port tells about the address; the port itself is tried only where it may need rights.
    const code = await tryListen(place.host, place.port < firstFreePort ? place.port : 0);
    const says = code === undefined ? undefined : (explainListenError(code, place) ?? `${place.host}: ${code}`);
    return table('configuration', [
      fault('configuration.listening', says !== undefined)`${says ?? ''}
      Why: Foyer does not start with this.
      Do: Set the variable as it says; config/example.env explains each.`,
    ]);
  });
  return (await Promise.all(found)).flat();
}
