"""Arguments, errors and printed texts of optimizers against torch."""

from __future__ import annotations

from harness import expressions

NAMES = ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "LBFGS", "Adadelta", "NAdam", "RAdam", "Adamax", "ASGD", "Rprop")
WRONG_PARAMS = ("[]", "z", "5", "[5]", "['w']", "[None]", "{z, a}", "[np.ones(2)]", "iter([])",
                "[{'params': []}, 5]", "[{'params': {z}}]", "[{'lr': 1}]", "[z, ('w', a)]", "[('w', a), z]",
                "[{'params': [z]}, {'params': [a, z]}]", "[{'params': [('w', z)]}, {'params': [a]}]",
                "[{'params': [z]}, {'params': [('w', a)]}]")  # fmt: skip
WRONG_RATES = ("lr=-1", "lr=-0.5", "lr=L.tensor([0.1, 0.2])", "lr=L.tensor(-1.0)", "foreach=True, bogus=1")
WRONG_OPTIONS = {
    "SGD": ("momentum=-1", "weight_decay=-0.5", "nesterov=True", "nesterov=True, momentum=0.9, dampening=0.1"),
    "Adam": ("eps=-1", "betas=(1.0, 0.9)", "betas=(-0.1, 0.9)", "betas=(0.9, 1.0)", "weight_decay=-1",
             "betas=(0, 0.9)", "betas=(L.tensor(0.9), 0.9)", "eps=float('nan')"),
    "AdamW": ("eps=-1", "betas=(0.9, 2.0)", "weight_decay=-1", "decoupled_weight_decay=True"),
    "RMSprop": ("eps=-1", "momentum=-1", "weight_decay=-1", "alpha=-1"),
    "Adagrad": ("eps=-1", "lr_decay=-1", "weight_decay=-1", "initial_accumulator_value=-1"),
    "LBFGS": ("line_search_fn='none'",),
    "Adadelta": ("rho=1.5", "eps=-1", "weight_decay=-1"),
    "NAdam": ("betas=(1.0, 0.9)", "eps=-1", "weight_decay=-1", "momentum_decay=-1"),
    "RAdam": ("betas=(0.9, -1)", "eps=-1", "weight_decay=-1"),
    "Adamax": ("betas=(0.9, -1)", "eps=-1", "weight_decay=-1"),
    "ASGD": ("weight_decay=-1",),
    "Rprop": ("etas=(1.5, 2.0)", "etas=(0.5, 1.0)"),
    "Adafactor": ("lr=-1", "beta2_decay=1.0", "eps=(-1, 1)", "eps=(None, -1)", "d=0.5", "weight_decay=-1"),
}  # fmt: skip
PRINTED = {
    "SGD": ("lr=1, momentum=0.9, nesterov=True", "foreach=True", "fused=False"),
    "Adam": ("lr=L.tensor(0.5), amsgrad=True", "betas=(0.5, 0.5), capturable=False"),
    "AdamW": ("", "maximize=True"),
    "RMSprop": ("", "centered=True, foreach=False"),
    "Adagrad": ("", "lr_decay=0.5"),
    **dict.fromkeys(("Adadelta", "NAdam", "RAdam", "Adamax", "ASGD", "Rprop", "Adafactor"), ("", "lr=0.5")),
    "LBFGS": ("", "max_iter=8, history_size=5", "max_eval=3, line_search_fn='strong_wolfe'"),
}
GOOD_PARAMS = ("[z, a]", "(each for each in [z])", "[{'params': z, 'lr': 3}]", "[('w', z), ('v', a)]")
EXPRESSIONS = [
    *(f"L.optim.{name}({params})" for name in NAMES for params in WRONG_PARAMS),
    *(f"L.optim.{name}([z], {rate})" for name in NAMES for rate in WRONG_RATES[:-1]),
    *(f"L.optim.{name}([z], {options})" for name, choices in WRONG_OPTIONS.items() for options in choices),
    *(f"L.optim.{name}([z], {options})" for name, choices in PRINTED.items() for options in choices),
    *(f"L.optim.{name}({params})" for name in NAMES for params in GOOD_PARAMS),
    "L.optim.LBFGS([{'params': z}, {'params': a}])",
    "o = L.optim.SGD([z]); o.add_param_group([a])",
    "o = L.optim.SGD([z]); o.add_param_group({'params': z})",
    "o = L.optim.SGD([z]); o.add_param_group({'params': a, 'lr': 5}); o",
    "o = L.optim.SGD([('w', z)]); o.add_param_group({'params': a})",
    "o = L.optim.SGD([z]); o.load_state_dict({'state': {}, 'param_groups': []})",
    "o = L.optim.SGD([z]); o.load_state_dict({'state': {}, 'param_groups': [{'params': [0, 1]}]})",
    "o = L.optim.SGD([z]); o.load_state_dict(L.optim.SGD([('w', a)], lr=2).state_dict()); o",
    "o = L.optim.SGD([('w', z)]); o.load_state_dict(L.optim.SGD([a], lr=2).state_dict()); o",
    "o = L.optim.SGD([('w', z), ('v', a)]); o.state_dict()",
    "o = L.optim.Adam([z, a]); o.state_dict()",
    "o = L.optim.Adagrad([z], initial_accumulator_value=0.5); o.state_dict()",
    "L.optim.Optimizer([z], {'lr': 1, 'x': 'y'})",
    "L.optim.Optimizer([z], {}).step()",
    "L.optim.SGD([z]).step()",
    "L.optim.SGD([z]).step(lambda: 7)",
    "L.optim.LBFGS([z]).step()",
    "L.optim.SGD([z]).zero_grad()",
]


def test_as_torch() -> None:
    expressions.check_all(EXPRESSIONS)
