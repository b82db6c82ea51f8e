import { z } from 'zod';
import { flowIdSchema, minuteMs, providerIdSchema } from '../shared/index.ts';
import { type BrowserRecords, browserRecords, type KeyValueStore, type SecretBox } from '../store/index.ts';
import { refusalKinds, upstreamIdentitySchema } from './identity.ts';

const schema = z.object({
  provider: providerIdSchema,
  /** Undefined: the response is unsolicited (IdP-initiated). */
  attempt: flowIdSchema.optional(),
  outcome: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('identity'), identity: upstreamIdentitySchema }),
    z.object({ kind: z.literal('refused'), why: z.enum(refusalKinds) }),
  ]),
});

/**
 * The data of a cross-site POST (SAML's HTTP-POST binding). It comes without the browser's cookies, so nothing is
 * decided yet: it redirects to a GET of this site, which has them.
 */
export type PostedResponse = z.infer<typeof schema>;

export type PostedResponses = Pick<BrowserRecords<PostedResponse>, 'create' | 'find' | 'takeOnce'>;

export const createPostedResponses = ({ kv, box }: { kv: KeyValueStore; box: SecretBox }): PostedResponses =>
  browserRecords({ kv, kind: 'federation-ticket', schema, ttlMs: 5 * minuteMs, seal: box });
