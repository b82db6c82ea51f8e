import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sendGridCarrier } from '../../server/messages/carrier-sendgrid.ts';
import { smtpCarrier } from '../../server/messages/carrier-smtp.ts';
import { twilioCarrier } from '../../server/messages/carrier-twilio.ts';
import { createDelivery, type DeliverySettings } from '../../server/messages/deliver-message.ts';
import { type Message, renderMail } from '../../server/messages/index.ts';
import { eachSetup, mail, type Setup } from '../messages/outbox-setup.ts';
import { toE164 } from '../support/ids.ts';
import { anyBackend, type OpenStores } from '../support/stores.ts';
import { waitFor } from '../support/wait-for.ts';
import { type Fault, quickFaults, slowFaults } from './faulty-answers.ts';
import { smtpFaults, startFaultySmtp, takenAndGone } from './faulty-smtp.ts';

const apiKey = 'SG.test-key.for-tests';
const look = { publicUrl: 'https://login.example.com', brandName: 'Foyer' };
/** Instead of 15 seconds, so that the test need not wait for as long. */
const timeoutMs = 1_000;
const sms: Message = { channel: 'sms', to: toE164('+4915112345678'), text: '123456 is your code' };

describe('the outbox before a carrier that fails', () => {
  let setup: Setup;
  let stores: OpenStores;
  eachSetup(anyBackend, (opened, underlying) => {
    [setup, stores] = [opened, underlying];
  });

  const workerWith = (carriers: DeliverySettings['carriers']) =>
    setup.worker(
      createDelivery({
        database: stores.database,
        carriers,
        from: { address: 'no-reply@example.com', name: 'Foyer' },
        render: (message) => renderMail(message, look),
        templateId: () => undefined,
      }),
    );

  interface Failing {
    message: Message;
    worker: ReturnType<Setup['worker']>;
    fail(): void;
    mend(): void;
    taken(): number;
  }

  /** @returns what is wrong: a message that fails once must wait, and is then taken once */
  async function faultOf({ message, worker, fail, mend, taken }: Failing): Promise<string | undefined> {
    const [id, before] = [await setup.add(message), taken()];
    fail();
    const beganMs = performance.now();
    await worker.turn();
    const tookMs = performance.now() - beganMs;
    const row = await setup.row(id);
    mend();
    if (row?.state !== 'waiting' || row.attempts !== 1) return `${row?.state} after ${row?.attempts} attempts`;
    if (/ada@example|4915112345678|123456|SG\.|token-of/.test(row.lastError ?? '')) return `it says ${row.lastError}`;
    if (tookMs > 10_000) return `it took ${tookMs} ms`;
    setup.pass((row.nextAttemptAt ?? 0) - setup.now());
    await worker.turn();
    await worker.turn();
    const after = await setup.row(id);
    return after?.state === 'delivered' && taken() === before + 1
      ? undefined
      : `${after?.state}, ${taken() - before} taken`;
  }

  describe('by HTTP', () => {
    let server: Server;
    let url: string;
    let fault: Fault | undefined;
    let taken = 0;
    const unanswered = new Set<ServerResponse>();
    beforeAll(async () => {
      server = createServer(async (req, res) => {
        unanswered.add(res.once('close', () => unanswered.delete(res)));
        for await (const _ of req);
        if (fault) return fault(res);
        taken += 1;
        const isMail = req.url === '/v3/mail/send';
        res.writeHead(isMail ? 202 : 201, { 'content-type': 'application/json' }).end(isMail ? '' : '{"sid":"SM1"}');
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    });
    afterAll(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });

    const carriers = () => ({
      mail: sendGridCarrier({ apiKey, url, timeoutMs }),
      sms: twilioCarrier({
        accountSid: 'AC1',
        authToken: 'token-for-tests',
        sender: { from: 'Foyer' },
        url,
        timeoutMs,
      }),
    });

    it.each<[string, Message]>([
      ['SendGrid', mail('ada@example.com')],
      ['Twilio', sms],
    ])(
      'However %s answers without taking a message, the message waits, and is taken once when it is well',
      async (_name, message) => {
        const worker = workerWith(carriers());
        const wrong: Record<string, string> = {};
        for (const [what, next] of Object.entries({ ...quickFaults, ...slowFaults })) {
          const found = await faultOf({
            message,
            worker,
            fail: () => {
              fault = next;
            },
            mend: () => {
              fault = undefined;
            },
            taken: () => taken,
          });
          if (found !== undefined) wrong[what] = found;
        }
        expect(wrong).toEqual({});
        await waitFor(() => expect(unanswered.size).toBe(0));
      },
      60_000,
    );

    it('A text message that Twilio has taken (201) is not sent again, whatever becomes of its answer', async () => {
      const worker = workerWith(carriers());
      const bodies: Record<string, (res: ServerResponse) => void> = {
        'is cut in the middle': (res) => res.write('{"sid":"SM', () => res.destroy()),
        'is a page': (res) => res.end('<html></html>'),
        'is empty': (res) => res.end(),
        'never ends': (res) => quickFaults['never ends its answer'](res),
      };
      for (const [what, send] of Object.entries(bodies)) {
        let asked = 0;
        fault = (res) => {
          asked += 1;
          const { writeHead } = res;
          res.writeHead = () => res;
          writeHead.call(res, 201, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' });
          send(res);
        };
        const id = await setup.add(sms);
        await worker.turn();
        setup.pass(3_600_000);
        await worker.turn();
        expect([what, (await setup.row(id))?.state, asked]).toEqual([what, 'delivered', 1]);
      }
      fault = undefined;
      await waitFor(() => expect(unanswered.size).toBe(0));
    });
  });

  describe('by SMTP', () => {
    let smtp: Awaited<ReturnType<typeof startFaultySmtp>>;
    beforeAll(async () => {
      smtp = await startFaultySmtp();
    });
    afterAll(() => smtp?.close());
    const worker = () =>
      workerWith({ mail: smtpCarrier({ url: `smtp://127.0.0.1:${smtp.port}?requireTLS=false`, timeoutMs }) });

    it('However a mail server fails before it has taken a mail, the mail waits, and is taken once when it is well', async () => {
      const own = worker();
      const wrong: Record<string, string> = {};
      for (const [what, fault] of Object.entries(smtpFaults)) {
        const found = await faultOf({
          message: mail('ada@example.com'),
          worker: own,
          fail: () => smtp.fail(fault),
          mend: () => smtp.fail(undefined),
          taken: () => smtp.taken.length,
        });
        if (found !== undefined) wrong[what] = found;
      }
      expect(wrong).toEqual({});
      expect(new Set(smtp.taken).size).toBe(smtp.taken.length);
      await waitFor(() => expect(smtp.connections()).toBe(0));
    }, 60_000);

    it('A mail that a mail server has taken is not sent again when the connection ends right afterwards', async () => {
      const own = worker();
      const before = smtp.taken.length;
      smtp.fail(takenAndGone);
      const id = await setup.add(mail('ada@example.com'));
      await own.turn();
      smtp.fail(undefined);
      setup.pass(3_600_000);
      await own.turn();
      expect((await setup.row(id))?.state).toBe('delivered');
      expect(smtp.taken.slice(before)).toEqual([`<${id}@example.com>`]);
    });
  });
});
