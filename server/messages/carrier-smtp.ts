import { createTransport, type NodemailerError } from 'nodemailer';
import { toHeaderText } from './addresses.ts';
import { type MailCarrier, PermanentDeliveryError } from './carrier.ts';

export interface SmtpSettings {
  /** `smtp://user:password@host:587` or `smtps://…:465`; `?requireTLS=false` allows a server without TLS. */
  url: string;
  /** The HTTP proxy on the way to it; undefined: none. */
  proxy?: string | undefined;
  /** Time limit of one delivery, from connecting to the server's last reply. */
  timeoutMs?: number;
}

const usualPorts = { 'smtp:': 587, 'smtps:': 465 } as const;

/** A pool of connections to the server; none is open yet. */
export function smtpTransport({ url, proxy, timeoutMs = 15_000 }: SmtpSettings) {
  const { protocol, hostname, port, username, password, searchParams } = new URL(url);
  const secure = protocol === 'smtps:';
  return createTransport({
    host: hostname,
    port: Number(port) || usualPorts[secure ? 'smtps:' : 'smtp:'],
    secure,
    // Mails contain codes: an eavesdropper must not read them, nor remove the offer of STARTTLS.
    requireTLS: !secure && searchParams.get('requireTLS') !== 'false',
    ...(username !== '' && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    ...(proxy !== undefined && { proxy }),
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/**
 * Any SMTP server (RFC 5321). SMTP has no idempotency key: the Message-ID (RFC 5322) is derived from it, so that
 * mailboxes recognize a repeated mail.
 */
export function smtpCarrier(settings: SmtpSettings): MailCarrier {
  const { timeoutMs = 15_000 } = settings;
  const transport = smtpTransport(settings);
  return {
    name: 'smtp',
    async send(mail, { idempotencyKey, onAnswer }) {
      if ('templateId' in mail) throw new PermanentDeliveryError('SMTP has no templates of its own');
      const { to, from, replyTo, subject, html, text } = mail;
      const domain = from.address.slice(from.address.lastIndexOf('@') + 1);
      try {
        const { response } = await transport.sendMail({
          from: { address: from.address, name: toHeaderText(from.name ?? '') },
          // As an object it is always one address.
          to: { address: to, name: '' },
          ...(replyTo !== undefined && { replyTo: { address: replyTo, name: '' } }),
          subject,
          html,
          text,
          messageId: `<${idempotencyKey}@${domain}>`,
          // RFC 3834: automatic responders do not answer it.
          headers: { 'Auto-Submitted': 'auto-generated' },
          signal: AbortSignal.timeout(timeoutMs),
        });
        onAnswer?.(response);
      } catch (error) {
        throw smtpFailure(error as NodemailerError);
      }
    },
  };
}

/**
 * Permanent if the recipient or the mail itself was refused (5yz); a refused sender or login is the operator's to
 * repair.
 */
function smtpFailure(error: NodemailerError): Error {
  const { responseCode = 0, command, message } = error;
  const refused = command === 'RCPT TO' || command === 'DATA';
  return responseCode >= 500 && refused
    ? new PermanentDeliveryError(`SMTP: ${message}`)
    : new Error(`SMTP: ${message}`, { cause: error });
}
