/** A mail server on this machine that accepts every mail and keeps none. */
import { SMTPServer } from 'smtp-server';
import { serve } from '../rpc.ts';
import type { Listening } from '../setting.ts';

let received = 0;

function start(): Promise<Listening> {
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    authOptional: true,
    onData(stream, _session, done) {
      stream.resume();
      stream.on('end', () => {
        received += 1;
        done(null);
      });
    },
  });
  server.on('error', () => {});
  return new Promise((resolve) => {
    const listening = server.listen(0, '127.0.0.1', () => resolve(listening.address() as { port: number }));
  });
}

const handlers = { start, received: () => received };
export type SmtpSink = typeof handlers;
serve(handlers);
