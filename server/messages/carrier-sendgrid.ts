import https from 'node:https';
import sendGridClient from '@sendgrid/client';
import sendGridMail from '@sendgrid/mail';
import { z } from 'zod';
import { propertyIn } from '../shared/index.ts';
import { toHeaderText } from './addresses.ts';
import { type MailCarrier, type OutgoingMail, PermanentDeliveryError } from './carrier.ts';

// Their types only declare the shared instances; an own instance is not shared with other code.
const Client = sendGridClient.constructor as new () => typeof sendGridClient;
const MailService = sendGridMail.constructor as new () => typeof sendGridMail;

/** Longer than any answer about one mail. */
const maxBytes = 65_536;

export interface SendGridSettings {
  apiKey: string;
  /** `https://api.sendgrid.com`, or the European one. */
  url: string;
  timeoutMs?: number;
}

/** Tests whether https calls of this process go through a proxy. */
const isProxied = (): boolean => propertyIn(https.globalAgent.options, 'proxyEnv') !== undefined;

/**
 * SendGrid's Mail Send API, version 3. It has no idempotency key: the key is sent as `X-Message-Id` (in the request and
 * in the mail) and as the custom argument `message_id`, which SendGrid's own events contain, so that a mail that was
 * sent twice after a crash can be recognized.
 */
export function sendGridCarrier({ apiKey, url, timeoutMs = 15_000 }: SendGridSettings): MailCarrier {
  const client = new Client();
  client.setApiKey(apiKey);
  // Only now: setApiKey sets its own address.
  client.setDefaultRequest('baseUrl', url);
  // The library would also read other variables than Foyer's.
  if (!isProxied()) client.setDefaultRequest('proxy' as 'baseUrl', false as never);
  const service = new MailService();
  service.setClient(client);
  // Credentials must not follow a redirect, nor is an answer about one mail ever long.
  client.setDefaultRequest({ maxRedirects: 0, maxContentLength: maxBytes } as never);
  return {
    name: 'sendgrid',
    async send(mail, { idempotencyKey, onAnswer }) {
      const { to, from, replyTo } = mail;
      try {
        // The library reads its defaults at once. Its own time limit begins anew with each byte of an answer.
        client.setDefaultRequest({ signal: AbortSignal.timeout(timeoutMs) } as never);
        const [{ statusCode, headers }] = await service.send({
          to: { email: to },
          from: { email: from.address, name: toHeaderText(from.name ?? '') },
          ...(replyTo !== undefined && { replyTo: { email: replyTo } }),
          ...toSendGridContent(mail),
          headers: { 'X-Message-Id': idempotencyKey },
          customArgs: { message_id: idempotencyKey },
          // These mails must have no links through another host, and no pictures that report when they are read.
          trackingSettings: { clickTracking: { enable: false, enableText: false }, openTracking: { enable: false } },
        });
        // A page of a proxy, with 200, has taken no mail.
        if (statusCode !== 202) throw Object.assign(new Error('no mail was accepted'), { code: statusCode });
        onAnswer?.(`${statusCode}, X-Message-Id: ${String(propertyIn(headers, 'x-message-id'))}`);
      } catch (error) {
        throw sendGridFailure(error);
      }
    },
  };
}

function toSendGridContent(mail: OutgoingMail) {
  if (!('templateId' in mail)) return { subject: mail.subject, text: mail.text, html: mail.html };
  const { templateId, values } = mail;
  // Dynamic templates have ids with this prefix; the older ones only support substitutions.
  return templateId.startsWith('d-')
    ? { templateId, dynamicTemplateData: values }
    : { templateId, substitutions: values };
}

const refusal = z.object({
  body: z.object({
    errors: z.array(z.object({ message: z.string().optional(), field: z.string().nullish() })),
  }),
});

/** Permanent only if the recipient or the size was refused: an operator can repair everything else. */
function sendGridFailure(error: unknown): Error {
  const [code, message, response] = ['code', 'message', 'response'].map((name) => propertyIn(error, name));
  // Refused connections, timeouts.
  if (!response) return new Error(`SendGrid: ${String(code ?? '')} ${String(message)}`, { cause: error });
  const errors = refusal.safeParse(response).data?.body.errors ?? [];
  const why = `SendGrid ${String(code)}: ${errors.map(({ message: detail = '' }) => detail).join('; ') || String(message)}`;
  const ofRecipient = errors.length > 0 && errors.every(({ field }) => field?.startsWith('personalizations') === true);
  return code === 413 || (code === 400 && ofRecipient) ? new PermanentDeliveryError(why) : new Error(why);
}
