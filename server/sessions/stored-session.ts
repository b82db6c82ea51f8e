import type { SessionData } from 'express-session';
import { z } from 'zod';
import { providerIdSchema, userIdSchema } from '../shared/index.ts';
import { checkedAs } from '../store/index.ts';
import type { SessionUser, UpstreamSession } from './session.ts';

/** Schema for reading it from a store. */
export const upstreamSessionSchema: z.ZodType<UpstreamSession> = z.object({
  provider: providerIdSchema,
  saml: z
    .object({
      nameId: z.string(),
      nameIdFormat: z.string(),
      nameQualifier: z.string().optional(),
      spNameQualifier: z.string().optional(),
      sessionIndex: z.string().optional(),
    })
    .optional(),
});

/** Optional properties are missing in sessions of earlier releases. */
export const sessionUserSchema: z.ZodType<SessionUser> = z.looseObject({
  userId: userIdSchema,
  authTimeMs: z.number(),
  amr: z.array(z.string()),
  remember: z.boolean(),
  startedAtMs: z.number().optional(),
  passwordEpoch: z.number().optional(),
  browserId: z.string().optional(),
  onRememberedDevice: z.boolean().optional(),
  upstream: upstreamSessionSchema.optional(),
});

/** A session as express-session stores it. */
export const sessionDataSchema = checkedAs<SessionData>(
  z.looseObject({ cookie: z.looseObject({}), user: sessionUserSchema.optional() }),
);
