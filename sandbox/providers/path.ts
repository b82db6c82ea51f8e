/** Their former list, which leads to Foyer's page. */
export const providersPath = '/providers';
