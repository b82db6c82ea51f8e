/** The demo television, at the demo app's origin. */
export const televisionPath = '/television';
