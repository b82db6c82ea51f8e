import { formatDate } from '../../views/format.ts';
import { PlainLayout } from '../../views/layout/plain-layout.tsx';
import type { PageContext } from '../../views/page-context.ts';
import { Button, ButtonLink } from '../../views/parts/button.tsx';
import { Card } from '../../views/parts/card.tsx';
import { CopyButton } from '../../views/parts/copy-button.tsx';
import { EmptyState } from '../../views/parts/empty-state.tsx';
import { textsFor } from '../texts.ts';

export interface MessageLine {
  id: string;
  to: string;
  /** Text messages have none. */
  subject?: string | undefined;
  /** A one-time code in it. */
  code?: string | undefined;
  atMs: number;
}

interface MailboxPageProps {
  ctx: PageContext;
  /** Newest first. */
  messages: readonly MessageLine[];
  /** Only those to this address. */
  to?: string | undefined;
  /** Of this page. */
  address: string;
  templatesHref: string;
}

/** A code, large, with a button to copy it. */
export function CopyableCode({ ctx, id, code }: { ctx: PageContext; id: string; code: string }) {
  const t = textsFor(ctx);
  return (
    <span className="message-code">
      <code id={id}>{code}</code>
      <CopyButton ctx={ctx} source={id} label={t('common.copy')} doneLabel={t('common.copied')} />
    </span>
  );
}

function Line({ ctx, address, message }: { ctx: PageContext; address: string; message: MessageLine }) {
  const { id, to, subject, code, atMs } = message;
  return (
    <li>
      <div className="item-words">
        <a className="item-label" href={`${address}/${id}`}>
          {subject ?? textsFor(ctx)('sandbox.mailboxPage.sms')}
        </a>
        <p className="item-value small">
          <span>{to}</span>
          <time dateTime={new Date(atMs).toISOString()}>{formatDate(ctx.lang, atMs, 'exact')}</time>
        </p>
      </div>
      {code !== undefined && <CopyableCode ctx={ctx} id={`code-${id}`} code={code} />}
    </li>
  );
}

function Filter({ ctx, address, to }: { ctx: PageContext; address: string; to: string | undefined }) {
  const t = textsFor(ctx);
  return (
    <form className="search" action={address}>
      <label className="visually-hidden" htmlFor="field-to">
        {t('sandbox.mailboxPage.recipient')}
      </label>
      <input
        id="field-to"
        type="search"
        name="to"
        defaultValue={to}
        placeholder={t('sandbox.mailboxPage.recipient')}
        autoComplete="off"
      />
      <Button size="small" kind="quiet">
        {t('sandbox.mailboxPage.filter')}
      </Button>
    </form>
  );
}

/** All messages that the sandbox stored instead of sending them. */
export function MailboxPage({ ctx, messages, to, address, templatesHref }: MailboxPageProps) {
  const t = textsFor(ctx);
  const { brand } = ctx;
  const formAction = to === undefined ? address : `${address}?${new URLSearchParams({ to })}`;
  return (
    <PlainLayout ctx={ctx} shape="wide">
      <div className="page-head">
        <h1>{t('sandbox.mailboxPage.title')}</h1>
        <p className="lead muted">{t('sandbox.mailboxPage.lead', { brand: brand.name })}</p>
      </div>
      {(messages.length > 0 || to !== undefined) && <Filter ctx={ctx} address={address} to={to} />}
      {messages.length === 0 ? (
        <EmptyState
          title={to === undefined ? t('sandbox.mailboxPage.empty') : t('sandbox.mailboxPage.emptyFor', { to })}
          text={t('sandbox.mailboxPage.emptyText')}
          action={<ButtonLink href={formAction}>{t('sandbox.mailboxPage.reload')}</ButtonLink>}
        />
      ) : (
        <Card flush>
          <ul className="items messages">
            {messages.map((message) => (
              <Line key={message.id} ctx={ctx} address={address} message={message} />
            ))}
          </ul>
        </Card>
      )}
      <p className="small further">
        {messages.length > 0 && <a href={formAction}>{t('sandbox.mailboxPage.reload')}</a>}
        {to !== undefined && <a href={address}>{t('sandbox.mailboxPage.all')}</a>}
        <a href={templatesHref}>{t('sandbox.mailboxPage.toTemplates', { brand: brand.name })}</a>
      </p>
    </PlainLayout>
  );
}
