/** Which addresses may be connected to, in the forms that a resolver gives them; those of URLs: test/providers/web-fetch.test.ts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressPolicy, isHostRule } from '../../../src/compute/web/address-policy.ts';

test('only addresses that the internet routes to somebody are allowed', () => {
  const { allows } = addressPolicy([]);
  for (const address of ['8.8.8.8', '2606:4700::1111', '2001:4860:4860::8888', '::ffff:8.8.8.8', '2606:4700::1%lo']) {
    assert.equal(allows(address), true, address);
  }
  const special = [
    ...'0.1.2.3 10.0.0.1 100.64.0.1 127.0.0.1 169.254.169.254 192.0.0.9 192.88.99.1 192.31.196.1'.split(' '),
    ...['198.18.0.1', '240.0.0.1', '255.255.255.255', '::', '::1', '::1.2.3.4', '::0.0.0.1', '::102:304'],
    '::ffff:127.0.0.1',
    '::ffff:0:8.8.8.8',
    '64:ff9b::8.8.8.8',
    '64:ff9b:1::1',
    '2002:808:808::',
    '2001:0:7f00:1::',
    ...'2001:db8::1 3fff::1 5f00::1 100::1 fc00::1 fd00:ec2::254 fe80::1 fe80::1%eth0 fec0::1'.split(' '),
    ...['ff02::1', '127.1', '0x7f000001', 'example.com', ''],
  ];
  for (const address of special) assert.equal(allows(address), false, address);
});

test('an address that stands for another is no rule, and no way around one', () => {
  assert.equal(isHostRule('::1.2.3.4'), false);
  const { allows } = addressPolicy(['10.0.0.0/8']);
  assert.deepEqual(['10.1.2.3', '::ffff:10.1.2.3', '::10.1.2.3', '192.168.0.1'].map(allows), [
    true,
    true,
    false,
    false,
  ]);
});
