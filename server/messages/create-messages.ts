import type { AuditHooks } from '../audit/index.ts';
import type { Metrics } from '../shared/index.ts';
import type { Database, SecretBox } from '../store/index.ts';
import type { Carriers, MailAddress } from './carrier.ts';
import { createDelivery } from './deliver-message.ts';
import { createOutbox, type Outbox } from './outbox.ts';
import { createOutboxWorker, type OutboxWorker, type OutboxWorkerSettings } from './outbox-worker.ts';
import { renderMail } from './render-mail.tsx';

interface MessagesOptions extends Pick<OutboxWorkerSettings, 'log' | 'random' | 'timing'> {
  database: Database;
  box: SecretBox;
  metrics: Metrics;
  now: () => number;
  carriers: Carriers;
  from: MailAddress;
  replyTo?: string | undefined;
  /** Name, addresses and colors of the brand, for the mails. */
  look: Parameters<typeof renderMail>[1];
  /** Templates that the operator has mapped to the mail service's own ids. */
  templates: ReadonlyMap<string, string>;
  /** Records an event of the audit trail. */
  record?: AuditHooks['onAct'] | undefined;
}

/** The outbox, and its worker, which is not started. */
export function createMessages(settings: MessagesOptions): { outbox: Outbox; outboxWorker: OutboxWorker } {
  const { database, box, metrics, now, carriers, from, replyTo, look, templates, record } = settings;
  const deliver = createDelivery({
    database,
    carriers,
    from,
    replyTo,
    render: (mail) => renderMail(mail, look),
    templateId: (name) => templates.get(name),
  });
  const outboxWorker = createOutboxWorker({ ...settings, deliver });
  return { outbox: createOutbox({ box, now, metrics, record, onWake: outboxWorker.wake }), outboxWorker };
}
