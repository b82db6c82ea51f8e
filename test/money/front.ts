import { Agent, createServer, request } from 'node:http';

/** What stands before the processes of the product: each request goes to the next one. */
export interface Front {
  /** Of the processes; without any, no request is answered. */
  ports: number[];
  close(): Promise<void>;
}

export async function openFront(port: number): Promise<Front> {
  const connections = new Agent({ keepAlive: true, timeout: 3_000 });
  let turn = 0;
  const server = createServer((asked, answer) => {
    turn += 1;
    const target = front.ports[turn % front.ports.length];
    // The connection of a member breaks with that of the process.
    const fail = () => answer.destroy();
    if (target === undefined) return void fail();
    const { method, url, rawHeaders } = asked;
    const onward = request(
      { host: 'localhost', port: target, method, path: url, headers: rawHeaders, agent: connections },
      (given) => {
        answer.writeHead(given.statusCode ?? 502, given.rawHeaders);
        given.once('error', fail).pipe(answer);
      },
    );
    asked.pipe(onward.once('error', fail));
  });
  const front: Front = {
    ports: [],
    async close() {
      connections.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  await new Promise<void>((resolve) => server.listen(port, 'localhost', resolve));
  return front;
}
