import { z } from 'zod';
import { minuteMs } from '../shared/index.ts';
import { type BrowserRecords, browserRecords, type KeyValueStore, type SecretBox } from '../store/index.ts';
import { refusalKinds, upstreamIdentitySchema } from './identity.ts';

const schema = z.object({
  provider: z.string(),
  /** Undefined: nobody asked (IdP-initiated). */
  attempt: z.string().optional(),
  outcome: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('identity'), identity: upstreamIdentitySchema }),
    z.object({ kind: z.literal('refused'), why: z.enum(refusalKinds) }),
  ]),
});

/**
 * What a post from another site brought (SAML's HTTP-POST binding). It comes without the browser's cookies, so nothing is
 * decided at it: its address leads to a GET of our own, where they are back.
 */
export type PostedResponse = z.infer<typeof schema>;

export type PostedResponses = Pick<BrowserRecords<PostedResponse>, 'create' | 'find' | 'takeOnce'>;

export const createPostedResponses = ({ kv, box }: { kv: KeyValueStore; box: SecretBox }): PostedResponses =>
  browserRecords({ kv, kind: 'federation-ticket', schema, ttlMs: 5 * minuteMs, seal: box });
