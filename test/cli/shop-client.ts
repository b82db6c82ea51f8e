/** The options that register the client of most tests; others can follow. */
export const shop = ['--id', 'shop', '--name', 'The Shop', '--redirect-uri', 'https://shop.example.com/cb'];
