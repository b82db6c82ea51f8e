/** Where the stand-ins for providers show what they do. */
export const providersPath = '/providers';
