/** The page of the stand-ins for providers. */
export const providersPath = '/providers';
