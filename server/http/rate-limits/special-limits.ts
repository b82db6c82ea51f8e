import type { SpecialLimitDefinition } from './definition.ts';

const minuteMs = 60_000;

/**
 * The limits with a rule of their own, which the named modules count. They belong to the table of `limits.ts`: the
 * documentation and the test read both.
 */
export const specialLimits = {
  passwordQueue: {
    counts: 'passwords that wait for their check (`password/queue.ts`)',
    per: 'process',
    max: '`PASSWORD_QUEUE_MAX`',
    refusal: '`PASSWORD_QUEUE_FULL_STATUS`',
  },
  passwordQueueAccount: {
    counts: 'passwords that are checked or wait; as many again from known devices',
    per: 'account',
    max: '`PASSWORD_QUEUE_ACCOUNT`',
    refusal: '429',
  },
  passwordQueueAddress: {
    counts: 'passwords that are checked or wait, from unknown devices',
    per: 'address',
    max: '`PASSWORD_QUEUE_ADDRESS`',
    refusal: '429',
  },
  slowLane: {
    counts: 'requests that pass while a shared limit is full; all networks that have tried before get a fifth',
    per: 'shared limit',
    key: 'lane',
    max: '`OVERALL_LANE_PER_SECOND` per second',
    window: 10_000,
    refusal: '429',
  },
  visitorData: {
    counts: 'bytes that the key-value store keeps for visitors (`http/rate-limits/visitor-gate.ts`)',
    per: 'all',
    key: 'visitor-data',
    max: '`VISITOR_DATA_MAX_MB`',
    refusal: '503',
  },
  visitorShare: {
    counts: 'bytes that it keeps, weighed by the time for which it keeps them',
    per: 'address, or signed-in member',
    key: 'visitor-share',
    max: 'a twentieth of `VISITOR_DATA_MAX_MB`',
    part: 1 / 20,
    window: 10 * minuteMs,
    refusal: '429; `temporarily_unavailable` for a member',
  },
  session: {
    counts: 'sessions (`sessions/session-limit.ts`)',
    per: 'account',
    key: 'sessions-of',
    max: 50,
    refusal: 'the session that was used longest ago ends',
  },
  devicePoll: {
    counts: 'token requests of a device that waits (RFC 8628, section 3.5)',
    per: 'device code',
    key: 'oidc:device-poll',
    max: 1,
    window: 4_000,
    refusal: '`slow_down`',
  },
} as const satisfies Record<string, SpecialLimitDefinition>;
