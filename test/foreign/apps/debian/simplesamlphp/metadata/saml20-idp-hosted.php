<?php
// The template of SimpleSAMLphp, and what a test changes in it.
$metadata['__DYNAMIC:1__'] = array_merge([
    'host' => '__DEFAULT__',
    'privatekey' => 'server.pem',
    'certificate' => 'server.crt',
    'auth' => 'example-userpass',
], json_decode(getenv('HOSTED'), true));
