import { FakeToolRegistry } from '@celestea/agent-loop/testing';
import { toolRegistryContract } from '@celestea/core/contracts';
import { assert, test } from 'vitest';

// It keeps guards for a test to look at, and does not ask them.
toolRegistryContract(
  () => ({ registry: new FakeToolRegistry() }),
  { test, assert },
  ['tools', 'dispatch'],
);
