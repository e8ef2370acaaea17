import { toolRegistryContract } from '@celestea/core/contracts';
import { DefaultToolRegistry } from '@celestea/tools';
import { assert, test } from 'vitest';

toolRegistryContract(() => ({ registry: new DefaultToolRegistry() }), { test, assert });
