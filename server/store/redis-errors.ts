/** Redis cannot save to its disk, and refuses writes until it can: it answers PING with this error, too. */
export const isMisconfigured = (error: unknown): boolean =>
  error instanceof Error && error.name === 'ReplyError' && error.message.startsWith('MISCONF');
