import { expect, test } from '@jest/globals'
import { readS3Url } from '../src/s3-url.ts'

test('The address of a bucket may contain the characters of keys', () => {
  const url = 's3://AK:a/b+c%40@shelf/farm/one?region=eu-1&endpoint=https://s3.test:9000&ca=/ca.pem'
  expect(readS3Url(url)).toEqual({
    bucket: 'shelf',
    prefix: 'farm/one',
    region: 'eu-1',
    endpoint: 'https://s3.test:9000',
    ca: '/ca.pem',
    credentials: { accessKeyId: 'AK', secretAccessKey: 'a/b+c@' },
    forcePathStyle: true,
  })
  expect(readS3Url('s3://shelf')).toEqual({
    bucket: 'shelf',
    prefix: '',
    region: 'us-east-1',
    endpoint: undefined,
    ca: undefined,
    credentials: undefined,
    forcePathStyle: false,
  })
})

test.each([
  ['s3:/bucket', /^must be like s3:\/\/KEY:SECRET@BUCKET\/PREFIX/],
  ['s3://key@bucket', /^must be like/],
  ['s3://key:hush@bucket?regoin=eu', /^must not have the parameter regoin: did you mean region\?$/],
  ['s3://key:hush@bucket?endpoint=s3.test', /^must have an endpoint like https:/],
  ['s3://key:hush@bucket?ca=ca.pem', /^must have the absolute path of a file as ca$/],
  ['s3://key:hush%@bucket', /^must have %25 for %/],
])('The address %s is refused', (url, problem) => {
  expect(() => readS3Url(url)).toThrow(problem)
})
