<?php
$config = [
    'example-userpass' => [
        'exampleauth:UserPass',
        'ada:secret' => [
            'uid' => ['ada'],
            'mail' => [getenv('MAIL')],
            'givenName' => ['Ada'],
            'sn' => ['Lovelace'],
            'employeeNumber' => ['4711'],
        ],
    ],
];
